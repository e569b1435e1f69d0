public import Foundation

/// One of several microphones or loudspeakers of a port; no port lists any here.
// SAFETY: immutable.
open class AVAudioSessionDataSourceDescription: NSObject, @unchecked Sendable {
  private let identifier: NSNumber
  private let name: String

  init(dataSourceID: NSNumber, dataSourceName: String) {
    identifier = dataSourceID
    name = dataSourceName
    super.init()
  }

  /// Number of the data source.
  open var dataSourceID: NSNumber { identifier }
  /// Name for the user.
  open var dataSourceName: String { name }
  /// Place on the device: nil, as it is not known.
  open var location: AVAudioSession.Location? { nil }
  /// Direction that it points to: nil, as it is not known.
  open var orientation: AVAudioSession.Orientation? { nil }
  /// Supported polar patterns: nil, as they are not known.
  open var supportedPolarPatterns: [AVAudioSession.PolarPattern]? { nil }
  /// Selected polar pattern: nil, as it is not known.
  open var selectedPolarPattern: AVAudioSession.PolarPattern? { nil }
  /// Preferred polar pattern: nil.
  open var preferredPolarPattern: AVAudioSession.PolarPattern? { nil }

  /// Sets the preferred polar pattern; throws `badParam` unless it is nil.
  open func setPreferredPolarPattern(_ pattern: AVAudioSession.PolarPattern?) throws {
    guard pattern != nil else { return }
    throw AVAudioSession.ErrorCode.badParam.error(reason: "a data source has no polar patterns")
  }
}
