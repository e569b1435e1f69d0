/// Messages of connections whose headers have been read and whose bodies are not whole.
///
/// libre decodes the headers again with each segment that arrives: for a body that comes byte by
/// byte that would be thousands of times.
///
/// A value without I/O.
struct WaitingMessages {
  private struct Message {
    let head: [UInt8]
    let needed: Int
  }

  /// One for each connection that waits; of more the headers are decoded again.
  private static let capacity = 512

  /// By the place where they are in memory.
  private var messages: [UInt: Message] = [:]

  /// Notes a message in a place whose headers are `head`, and of which `needed` bytes make a whole.
  mutating func note(_ place: UInt, _ head: ArraySlice<UInt8>, needed: Int) {
    if messages.count >= Self.capacity, let any = messages.keys.first { messages[any] = nil }
    messages[place] = Message(head: Array(head), needed: needed)
  }

  /// True if the message in a place, of which so many bytes are `available`, is one that waits;
  /// what has become whole, or another one, does not.
  mutating func isWaiting(_ place: UInt, _ bytes: ArraySlice<UInt8>, _ available: Int) -> Bool {
    guard let message = messages[place] else { return false }
    if available < message.needed, bytes.starts(with: message.head) { return true }
    messages[place] = nil
    return false
  }
}
