public import ALSAAudio
public import SRTP
public import UDPTransport
public import VoiceEngine

/// The voice engine of a real call: sound cards or files on one side, UDP on the other.
public typealias CallEngine = VoiceEngine<Headset, SecureTransport<MediaSocket>>

/// The streams of a real call over UDP, with or without SRTP.
public typealias CallStreams = VoiceStreams<SecureTransport<MediaSocket>>
