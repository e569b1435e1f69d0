public import ALSAAudio
public import UDPTransport
public import VoiceEngine

/// The voice engine of a real call: sound cards or files on one side, UDP on the other.
public typealias CallEngine = VoiceEngine<Headset, MediaSocket>

/// The streams of a real call, over UDP.
public typealias CallStreams = VoiceStreams<MediaSocket>
