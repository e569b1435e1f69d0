import RealTime
import Synchronization

/// Flags between a voice loop and its engine, without a queue.
///
/// **Thread safety:** any thread.
final class LoopSignals: Sendable {
  /// Ends the loop's wait: there are commands, or it is to stop.
  let wakeUp: WakeEvent
  /// Signalled by the loop when a side of the device needs another one; nil if no thread waits for
  /// it.
  let alarm: WakeEvent?
  /// Signalled by the loop when there are keys to be taken: some that were pressed, or what a
  /// stream had still to send.
  let keyNews: WakeEvent
  /// True when the loop is to end.
  let isStopping = Atomic<Bool>(false)

  private let gone = Atomic<UInt8>(0)

  init(alarm: WakeEvent? = nil) throws(SystemError) {
    wakeUp = try WakeEvent()
    keyNews = try WakeEvent()
    self.alarm = alarm
  }

  /// The sides that are gone, or have stood still for long.
  var goneSides: StreamDirections {
    StreamDirections(rawValue: gone.load(ordering: .acquiring))
  }

  func noteGone(_ sides: StreamDirections) {
    let before = gone.bitwiseOr(sides.rawValue, ordering: .acquiringAndReleasing).oldValue
    if before & sides.rawValue != sides.rawValue { alarm?.signal() }
  }

  func noteBack(_ sides: StreamDirections) {
    gone.bitwiseAnd(~sides.rawValue, ordering: .releasing)
  }
}
