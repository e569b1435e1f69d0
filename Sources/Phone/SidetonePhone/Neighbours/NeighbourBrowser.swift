import DesktopServices
import Synchronization

/// Looks for phones on the local network, by Avahi.
///
/// ```swift
/// let browser = try NeighbourBrowser()
/// for await event in browser.events {
///   if case .arrived(let neighbour) = event { print(neighbour.name, neighbour.uri) }
/// }
/// ```
///
/// **Life cycle:** looks from the initialiser until `deinit`. **Thread safety:** any thread.
public final class NeighbourBrowser: Sendable {
  /// Phones that appear and disappear; for one reader.
  public let events: AsyncStream<NeighbourEvent>
  private let browser: ServiceBrowser
  private let continuation: AsyncStream<NeighbourEvent>.Continuation

  /// Begins to look for phones.
  ///
  /// Throws a `PhoneError` on a machine without a system message bus (D-Bus). If Avahi is missing,
  /// the event `failed` reports that.
  public convenience init() throws {
    try self.init(busAddress: BusConnection.systemAddress)
  }

  init(busAddress: String) throws {
    let (events, continuation) = AsyncStream<NeighbourEvent>.makeStream()
    let neighbourhood = Mutex(Neighbourhood())
    let browser = ServiceBrowser(type: Neighbour.serviceType, address: busAddress) { change in
      for event in neighbourhood.withLock({ $0.handle(change) }) { continuation.yield(event) }
    }
    guard let browser else {
      throw PhoneError.unsearchableNetwork("the system has no message bus (D-Bus)")
    }
    self.browser = browser
    self.events = events
    self.continuation = continuation
  }

  deinit {
    continuation.finish()
  }

  /// Returns the phones on the local network, once all have been found, or those found within
  /// `patience`.
  ///
  /// Throws a `PhoneError` if the network cannot be searched.
  public static func neighbours(within patience: Duration = .seconds(5)) async throws -> [Neighbour]
  {
    try await NeighbourBrowser().neighbours(within: patience)
  }

  func neighbours(within patience: Duration) async throws -> [Neighbour] {
    var found: [Neighbour] = []
    let deadline = Task { [continuation] in
      try await Task.sleep(for: patience)
      continuation.yield(.complete)
    }
    defer { deadline.cancel() }
    for await event in events {
      switch event {
      case .arrived(let neighbour):
        found.removeAll { $0.isSameAnnouncer(as: neighbour) }
        found.append(neighbour)
      case .left(let neighbour):
        found.removeAll { $0.isSameAnnouncer(as: neighbour) }
      case .failed(let reason):
        throw PhoneError.unsearchableNetwork(reason)
      case .complete:
        return found
      }
    }
    return found
  }
}
