public import Foundation

/// Input and output ports of an audio route.
// SAFETY: immutable.
open class AVAudioSessionRouteDescription: NSObject, @unchecked Sendable {
  private let from: [AVAudioSessionPortDescription]
  private let to: [AVAudioSessionPortDescription]

  init(inputs: [AVAudioSessionPortDescription], outputs: [AVAudioSessionPortDescription]) {
    from = inputs
    to = outputs
    super.init()
  }

  /// Creates a route without ports, for test doubles.
  public override convenience init() { self.init(inputs: [], outputs: []) }

  /// Microphones in use; empty if the category does not record.
  open var inputs: [AVAudioSessionPortDescription] { from }
  /// Loudspeakers in use; empty if the category does not play.
  open var outputs: [AVAudioSessionPortDescription] { to }

  /// True if the object is a route over the same ports.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AVAudioSessionRouteDescription else { return false }
    return from == other.from && to == other.to
  }

  /// Hash of the ports' `uid`s.
  open override var hash: Int { (from + to).map(\.uid).hashValue }
}
