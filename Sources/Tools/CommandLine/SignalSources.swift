import Dispatch
import Glibc

/// Signals as calls of a closure.
struct SignalSources {
  /// Those by which a user or the system ends a program.
  static let interrupts = [SIGINT, SIGTERM, SIGHUP]

  private let sources: [any DispatchSourceSignal]

  /// Calls `handle` for each; what the system would do by itself is left undone.
  init(_ numbers: [CInt], _ handle: @escaping @Sendable () -> Void) {
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: handle)
      source.resume()
      return source
    }
  }

  /// Handles no more.
  func cancel() {
    for source in sources { source.cancel() }
  }
}
