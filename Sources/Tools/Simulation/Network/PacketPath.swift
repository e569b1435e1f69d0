package import MediaCore

/// A path of packets in one direction, which decides on their outcomes: a model, or a recorded
/// trace.
///
/// **Thread safety:** one thread at a time; but if both ends of a call run at once, another thread
/// uses the path of the other direction, so the two share nothing.
package protocol PacketPath {
  /// Returns the outcome for a packet of `byteCount` bytes that is sent at `instant`.
  ///
  /// Packets are passed in the order of their sending.
  mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int)
    -> EmulatedNetwork.DeliveryOutcome

  /// Delay below which no packet arrives, in nanoseconds; 0 if that is not known.
  var leastDelay: Int64 { get }
}

extension PacketPath {
  /// Zero, as the least delay is not known.
  package var leastDelay: Int64 { 0 }
}

extension EmulatedNetwork: PacketPath {}
