public import Foundation

/// Asynchronous sequence of notifications, which Foundation has on Apple's systems only.
extension NotificationCenter {
  // SAFETY: notifications are handed on, and nothing here touches them again.
  /// Notifications as they are posted.
  public struct Notifications: AsyncSequence, @unchecked Sendable {
    // SAFETY: as above.
    private struct Posted: @unchecked Sendable {
      let notification: Notification
    }

    private let center: NotificationCenter
    private let name: Notification.Name
    private let object: AnyObject?

    init(_ center: NotificationCenter, _ name: Notification.Name, _ object: AnyObject?) {
      (self.center, self.name, self.object) = (center, name, object)
    }

    /// Iterator over the notifications posted since its creation; of unread ones the newest 8 are
    /// kept.
    public struct AsyncIterator: AsyncIteratorProtocol {
      private var posted: AsyncStream<Posted>.Iterator

      fileprivate init(_ source: Notifications) {
        let (stream, continuation) = AsyncStream<Posted>.makeStream(
          bufferingPolicy: .bufferingNewest(8)
        )
        nonisolated(unsafe) let token = source.center.addObserver(
          forName: source.name,
          object: source.object,
          queue: nil
        ) { continuation.yield(Posted(notification: $0)) }
        let center = source.center
        continuation.onTermination = { _ in unsafe center.removeObserver(token) }
        posted = stream.makeAsyncIterator()
      }

      /// Waits for the next notification; nil once the task is cancelled.
      public mutating func next() async -> Notification? {
        await posted.next()?.notification
      }
    }

    /// Creates an iterator, which observes from now on.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
  }

  /// Returns the notifications of a name, of all senders or of `object` alone, as they are posted.
  public func notifications(
    named name: Notification.Name,
    object: AnyObject? = nil
  ) -> Notifications {
    Notifications(self, name, object)
  }
}
