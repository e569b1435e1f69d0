import Dispatch
import RealTime

/// Calls a closure each time an event is signalled.
///
/// **Life cycle:** it listens until it is released. **Thread safety:** one owner; the closure is
/// called on a queue of its own, and must be quick.
final class EventListener {
  private let source: any DispatchSourceRead

  /// Calls `heard` after each signal of `event`; several signals in quick succession may be one.
  init(_ event: WakeEvent, _ heard: @escaping @Sendable () -> Void) {
    let queue = DispatchQueue(label: "sidetone.event")
    source = DispatchSource.makeReadSource(fileDescriptor: event.descriptor, queue: queue)
    source.setEventHandler {
      event.acknowledge()
      heard()
    }
    // The source may outlive the listener; the descriptor must outlive the source.
    source.setCancelHandler { withExtendedLifetime(event) {} }
    source.resume()
  }

  deinit {
    source.cancel()
  }
}
