import CLinux

/// An event that ends another thread's `poll` (`eventfd`).
///
/// **Thread safety:** any thread may signal; one thread waits on `descriptor` and acknowledges.
public final class WakeEvent: Sendable {
  /// The descriptor to poll for reading.
  public let descriptor: CInt

  /// Creates an event that is not signalled.
  ///
  /// Throws if the process is out of descriptors.
  public init() throws(SystemError) {
    let descriptor = realtime_event_open()
    guard descriptor >= 0 else { throw SystemError(operation: "eventfd", code: -descriptor) }
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }

  /// Wakes the waiting thread.
  ///
  /// Never blocks.
  @_noAllocation @_noLocks
  public func signal() {
    realtime_event_signal(descriptor)
  }

  /// Waits for the event, without a time limit.
  public func wait() {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    // A signal may end a wait.
    while unsafe poll(&waited, 1, -1) < 1 {}
  }

  /// Clears the event.
  @_noAllocation @_noLocks
  public func acknowledge() {
    _ = realtime_event_take(descriptor)
  }
}
