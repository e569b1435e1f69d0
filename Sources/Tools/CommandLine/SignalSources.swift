import CTerminal
import Dispatch
import Glibc
import Synchronization

/// Signals that arrived before their sources were active, one bit each.
private let early = Atomic<UInt64>(0)

/// Handlers of signals.
struct SignalSources {
  /// Signals by which a user or the system ends a program.
  static let interrupts = [SIGINT, SIGTERM, SIGHUP]

  private let sources: [any DispatchSourceSignal]

  /// Calls `handle` on a global queue for each of these signals, in place of the default action.
  ///
  /// No signal is lost from here on, even before its source is active. Only one instance in the
  /// life of a process may handle a signal. SIGHUP stays ignored if it was, as under `nohup`.
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

  /// Stops the calls of the handler.
  func cancel() {
    for source in sources { source.cancel() }
  }
}
