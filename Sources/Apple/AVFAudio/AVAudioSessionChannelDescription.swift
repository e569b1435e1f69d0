public import Foundation

/// One channel of a port; they are not distinguished here.
// SAFETY: immutable.
open class AVAudioSessionChannelDescription: NSObject, @unchecked Sendable {
  private let name: String
  private let number: Int
  private let port: String

  init(channelName: String, channelNumber: Int, owningPortUID: String) {
    name = channelName
    number = channelNumber
    port = owningPortUID
    super.init()
  }

  /// What people call it.
  open var channelName: String { name }
  /// Its number, from 1.
  open var channelNumber: Int { number }
  /// The port that it belongs to.
  open var owningPortUID: String { port }
}
