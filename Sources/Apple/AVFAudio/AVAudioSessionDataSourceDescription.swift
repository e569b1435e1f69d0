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
}
