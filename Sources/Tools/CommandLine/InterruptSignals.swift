import Dispatch
import Glibc

/// The signals by which a user or the system ends a program, as calls of a closure.
struct InterruptSignals {
  private let sources: [any DispatchSourceSignal]

  /// Calls `handle` for each; the program goes on until it ends itself.
  init(_ handle: @escaping @Sendable () -> Void) {
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
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
