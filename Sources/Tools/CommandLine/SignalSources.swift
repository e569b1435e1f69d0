import CTerminal
import Dispatch
import Glibc
import Synchronization

/// The signals that came before their sources were there, as bits.
private let early = Atomic<UInt64>(0)

/// Signals as calls of a closure.
struct SignalSources {
  /// Those by which a user or the system ends a program.
  static let interrupts = [SIGINT, SIGTERM, SIGHUP]

  private let sources: [any DispatchSourceSignal]

  /// Calls `handle` for each; what the system would do by itself is left undone.
  ///
  /// None is lost from here on, though a source begins to work a little later. A process has one
  /// for each signal, and once. A hang-up that is ignored stays so, as `nohup` wants it.
  init(_ numbers: [CInt], _ handle: @escaping @Sendable () -> Void) {
    sources = numbers.filter { $0 != SIGHUP || !signal_is_ignored($0) }.map { number in
      let bit: UInt64 = 1 << UInt64(number)
      // Made before a signal needs it, since a signal handler must not.
      _ = early.bitwiseAnd(~bit, ordering: .relaxed)
      signal(number) { _ = early.bitwiseOr(1 << UInt64($0), ordering: .relaxed) }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: handle)
      source.setRegistrationHandler {
        if early.bitwiseAnd(~bit, ordering: .relaxed).oldValue & bit != 0 { handle() }
      }
      source.resume()
      return source
    }
  }

  /// Handles no more.
  func cancel() {
    for source in sources { source.cancel() }
  }
}
