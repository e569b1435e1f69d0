/// Messages on connections whose headers were decoded, but whose bodies are not complete.
///
/// libre decodes the headers again with each segment that arrives: for a body that comes byte by
/// byte that would be thousands of times.
///
/// A value without I/O.
package struct WaitingMessages {
  private struct Message {
    let head: [UInt8]
    let needed: Int
  }

  /// Maximum number of incomplete messages remembered; past it, an arbitrary one is forgotten.
  private static let capacity = 512

  /// Messages by their address in memory.
  private var messages: [UInt: Message] = [:]

  /// Creates an empty record.
  package init() {}

  /// Notes the message at an address, whose headers are `head`, and which is complete with `needed`
  /// bytes.
  package mutating func note(_ place: UInt, _ head: ArraySlice<UInt8>, needed: Int) {
    if messages.count >= Self.capacity, let any = messages.keys.first { messages[any] = nil }
    messages[place] = Message(head: Array(head), needed: needed)
  }

  /// Returns true if the message at an address, of which `available` bytes have arrived, is a noted
  /// one that is not complete.
  ///
  /// One that is complete, or has other headers, is forgotten.
  package mutating func isWaiting(_ place: UInt, _ bytes: ArraySlice<UInt8>, _ available: Int)
    -> Bool
  {
    guard let message = messages[place] else { return false }
    if available < message.needed, bytes.starts(with: message.head) { return true }
    messages[place] = nil
    return false
  }
}
