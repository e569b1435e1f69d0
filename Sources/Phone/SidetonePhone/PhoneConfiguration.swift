public import AudioRouting
public import CallSecurity
import Foundation
public import SIPSignalling
public import SpeechDSP

/// The settings of a phone: its name, addresses, accounts, encryption, codecs and devices.
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
  /// True to bind RTP to the call's local address alone, for a machine with several addresses in
  /// one network; a call does then not follow the machine to another network.
  public var bindsMediaToHost = false
  /// The policy for encrypting calls.
  public var security = SecurityPolicy.preferred
  /// The codecs to offer, best first.
  public var codecs: [OfferedCodec] = OfferedCodec.allCases
  /// Frames per packet at 48 kHz: 120, 240, 480, 960, 1920 or 2880.
  public var packetFrames = 480
  /// Bit rate of Opus, in bits per second.
  public var bitrate = 48_000
  /// Complexity of Opus, 0 to 10; lower values sound a little worse.
  ///
  /// Since libopus 1.5 this is the decoder's complexity as well: from 5 on, losses are concealed
  /// better, and at 10, low bit rates sound better.
  public var complexity = 9
  /// True to adapt packet length and bit rate to the network, if the far side supports that.
  public var adaptsPackets = true
  /// True to send redundancy under loss: copies if the far side accepts them (RFC 2198), else
  /// Opus's in-band FEC.
  public var usesRedundancy = true
  /// True for variable bit rate in encrypted calls, whose packet lengths then reveal something of
  /// the speech to eavesdroppers (RFC 6562).
  public var usesVariableBitRate = false
  /// True for discontinuous transmission: Opus sends less during silence.
  public var usesDiscontinuousTransmission = false
  /// False to refuse anonymous callers (433, RFC 5079).
  public var takesAnonymousCalls = true
  /// Maximum number of simultaneous calls; further callers get 486 Busy Here.
  ///
  /// Ringing calls of strangers do not count against the user's own calls, nor against callers
  /// known from an earlier call or passed on by an account's server, so there may be more in all.
  public var maximumCalls = 2
  /// The app's name on the call screen and in the list of recent calls; the program's name by
  /// default.
  public var appName = ProcessInfo.processInfo.processName
  /// Time that an incoming call rings before it ends by itself, in seconds.
  public var ringDuration = 60.0
  /// The sound devices.
  public var devices = DeviceSelection.systemDefault
  /// The preferred device period, in seconds; nil leaves it to the session.
  ///
  /// A longer one saves processor time; each millisecond more adds 2 ms of delay.
  public var ioBufferDuration: Double?
  /// True to set up sound cards by their profiles of ALSA's Use Case Manager, on machines without a
  /// sound server.
  public var usesCardProfiles = false
  /// The filters between microphone and encoder.
  public var filters = SpeechFilterSettings()

  /// The configuration of a headset call on the default devices.
  public init() {}
}
