public import AudioRouting
public import CallSecurity
import Foundation
public import SIPSignalling
public import SpeechDSP

/// Who a phone is, where it listens and how it speaks.
public struct PhoneConfiguration: Equatable, Sendable {
  /// The user part of this side's address.
  public var user = "sidetone"
  /// The name to show to others.
  public var displayName: String?
  /// Numeric addresses for SIP; empty for every address of the machine.
  public var hosts: [String] = []
  /// The port for SIP over UDP and TCP; 0 for one that the system chooses.
  public var port: UInt16 = 5_060
  /// The port for RTP; 0 for one that the system chooses.
  public var mediaPort: UInt16 = 0
  /// True to be found on the local network by others (DNS-SD), with name, user and the identity's
  /// fingerprint; without effect if `hosts` are given.
  public var isAnnounced = false
  /// The accounts to register, the default one first.
  public var accounts: [SIPAccount] = []
  /// True to send and take RTP at the address of the call alone, for a machine that has several in
  /// one network; a call does not follow the machine to another network then.
  public var bindsMediaToHost = false
  /// Whether calls are encrypted.
  public var security = SecurityPolicy.preferred
  /// The codecs to offer, best first.
  public var codecs: [OfferedCodec] = OfferedCodec.allCases
  /// Frames per packet at 48 kHz: 120, 240, 480, 960, 1920 or 2880.
  public var packetFrames = 480
  /// Opus bits per second.
  public var bitrate = 48_000
  /// How much Opus computes, 0 to 10: less sounds a little worse.
  ///
  /// Since libopus 1.5 the decoder follows it as well: from 5 on, losses are concealed better, and
  /// at 10, low bit rates sound better.
  public var complexity = 9
  /// True to let `packetFrames` and `bitrate` follow what the network does, if the far side can.
  public var adaptsPackets = true
  /// True to send redundancy under loss: copies if the far side takes them (RFC 2198), else Opus's
  /// own.
  public var usesRedundancy = true
  /// True to let encrypted packets be as long as what is said needs, which tells listeners on the
  /// way something of it (RFC 6562).
  public var usesVariableBitRate = false
  /// True for discontinuous transmission: Opus sends less during silence.
  public var usesDiscontinuousTransmission = false
  /// False to refuse callers who do not say who they are (433, RFC 5079).
  public var takesAnonymousCalls = true
  /// How many calls there may be at a time; further callers get 486 Busy Here.
  ///
  /// Strangers who ring take no room from the user, nor from callers with whom there was a call
  /// before: while they ring, and once the user has answered them, there may be more. A caller
  /// whom an account's server passes on is no stranger.
  public var maximumCalls = 2
  /// The app's name on the call screen and in the list of recent calls; the program's at first.
  public var appName = ProcessInfo.processInfo.processName
  /// How many seconds a call rings here before it ends by itself.
  public var ringDuration = 60.0
  /// The sound devices.
  public var devices = DeviceSelection.systemDefault
  /// The device period to wish for, in seconds; nil leaves it to the session.
  ///
  /// A longer one saves processor time and costs twice as much delay.
  public var ioBufferDuration: Double?
  /// Whether sound cards are set up by their profiles of ALSA's Use Case Manager, on machines
  /// without a sound server.
  public var usesCardProfiles = false
  /// The filters between microphone and encoder.
  public var filters = SpeechFilterSettings()

  /// The configuration of a headset call on the default devices.
  public init() {}
}
