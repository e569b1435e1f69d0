public import Foundation

/// A channel of a port; no port lists any here.
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

  /// Name for the user.
  open var channelName: String { name }
  /// Number of the channel, from 1.
  open var channelNumber: Int { number }
  /// `uid` of the channel's port.
  open var owningPortUID: String { port }
}
