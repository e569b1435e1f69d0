public import Foundation

/// One of several microphones or loudspeakers of a port; they are not distinguished here.
// SAFETY: immutable.
open class AVAudioSessionDataSourceDescription: NSObject, @unchecked Sendable {
  private let identifier: NSNumber
  private let name: String

  init(dataSourceID: NSNumber, dataSourceName: String) {
    identifier = dataSourceID
    name = dataSourceName
    super.init()
  }

  /// Its number.
  open var dataSourceID: NSNumber { identifier }
  /// What people call it.
  open var dataSourceName: String { name }
}
