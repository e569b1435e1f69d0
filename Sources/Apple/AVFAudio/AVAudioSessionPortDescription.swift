public import Foundation

/// One end of a route: a microphone or a loudspeaker.
// SAFETY: immutable.
open class AVAudioSessionPortDescription: NSObject, @unchecked Sendable {
  private let type: AVAudioSession.Port
  private let name: String
  private let identifier: String

  init(portType: AVAudioSession.Port, portName: String, uid: String) {
    type = portType
    name = portName
    identifier = uid
    super.init()
  }

  /// Creates an empty port, for test doubles.
  public override convenience init() {
    self.init(portType: .builtInSpeaker, portName: "", uid: "")
  }

  /// Kind of the device.
  open var portType: AVAudioSession.Port { type }
  /// Name for the user.
  open var portName: String { name }
  /// Name by which the device is opened.
  ///
  /// Differs from Apple's: it is an ALSA name.
  open var uid: String { identifier }
  /// Channels of the port: nil.
  ///
  /// Differs from Apple's: the voice path is mono, so channels are not distinguished.
  open var channels: [AVAudioSessionChannelDescription]? { nil }
  /// Data sources of the port, for example several microphones: nil.
  ///
  /// Differs from Apple's: they are not distinguished.
  open var dataSources: [AVAudioSessionDataSourceDescription]? { nil }
  /// The data source in use: nil.
  open var selectedDataSource: AVAudioSessionDataSourceDescription? { nil }
  /// The data source to use: nil.
  open var preferredDataSource: AVAudioSessionDataSourceDescription? { nil }
  /// True if the port renders spatial audio: always false.
  open var isSpatialAudioEnabled: Bool { false }

  /// Selects a data source; throws `badParam` unless it is nil, as ports list none.
  open func setPreferredDataSource(_ dataSource: AVAudioSessionDataSourceDescription?) throws {
    try AVAudioSession.refuse(dataSource)
  }

  /// True if the device cancels echo itself: always false, since this is not known.
  open var hasHardwareVoiceCallProcessing: Bool { false }

  /// True if the object is the same port.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioSessionPortDescription else { return false }
    return type == other.type && identifier == other.identifier
  }

  /// Hash of `uid`.
  open override var hash: Int { identifier.hashValue }
}
