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

  /// What kind of device it is.
  open var portType: AVAudioSession.Port { type }
  /// What people call it.
  open var portName: String { name }
  /// The name to open it by.
  ///
  /// Differs from Apple's: an ALSA name.
  open var uid: String { identifier }
  /// Its channels.
  ///
  /// Differs from Apple's: the voice path is mono, so channels are not distinguished.
  open var channels: [AVAudioSessionChannelDescription]? { nil }
  /// Its data sources, for example several microphones.
  ///
  /// Differs from Apple's: not distinguished.
  open var dataSources: [AVAudioSessionDataSourceDescription]? { nil }
  /// The data source in use.
  open var selectedDataSource: AVAudioSessionDataSourceDescription? { nil }
  /// Whether the device cancels echoes itself; not known here.
  open var hasHardwareVoiceCallProcessing: Bool { false }

  /// True if the object is the same port.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioSessionPortDescription else { return false }
    return type == other.type && identifier == other.identifier
  }

  /// Agrees with `isEqual`.
  open override var hash: Int { identifier.hashValue }
}
