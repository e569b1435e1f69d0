package import RealTime
package import Synchronization

/// Flags between a voice loop and its engine, without a queue.
///
/// **Thread safety:** any thread.
package final class LoopSignals: Sendable {
  /// Event that ends the loop's wait: there are commands, or the loop is to stop.
  package let wakeUp: WakeEvent
  /// Event that the loop signals when a side of the device needs to be replaced; nil if no thread
  /// waits for it.
  let alarm: WakeEvent?
  /// Event that the loop signals when there are DTMF digits to be taken.
  let digitNews: WakeEvent
  /// True if the loop is to end.
  package let isStopping = Atomic<Bool>(false)
  /// True to send silence in place of the microphone on every stream.
  let isInputMuted = Atomic<Bool>(false)

  private let gone = Atomic<UInt8>(0)

  /// Creates the signals of a loop that has not begun.
  package init(alarm: WakeEvent? = nil) throws(SystemError) {
    wakeUp = try WakeEvent()
    digitNews = try WakeEvent()
    self.alarm = alarm
  }

  /// Sides that are gone, or have stalled for long.
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
