public import Foundation

/// Where sound comes from and goes to.
// SAFETY: immutable.
open class AVAudioSessionRouteDescription: NSObject, @unchecked Sendable {
  private let from: [AVAudioSessionPortDescription]
  private let to: [AVAudioSessionPortDescription]

  init(inputs: [AVAudioSessionPortDescription], outputs: [AVAudioSessionPortDescription]) {
    from = inputs
    to = outputs
    super.init()
  }

  /// The microphones in use; empty if the category does not record.
  open var inputs: [AVAudioSessionPortDescription] { from }
  /// The loudspeakers in use; empty if the category does not play.
  open var outputs: [AVAudioSessionPortDescription] { to }

  /// True if the object is a route over the same ports.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioSessionRouteDescription else { return false }
    return from == other.from && to == other.to
  }

  /// Agrees with `isEqual`.
  open override var hash: Int { (from + to).map(\.uid).hashValue }
}
