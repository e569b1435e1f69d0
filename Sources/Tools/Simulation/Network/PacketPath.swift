package import MediaCore

/// What decides over the fate of packets in one direction: a model, or what was recorded.
///
/// **Thread safety:** one thread at a time; but where both ends of a call run at once, the other
/// direction's path is asked by another thread, so the two share nothing.
package protocol PacketPath {
  /// What becomes of a packet of `byteCount` bytes that is sent at `instant`, which is not before
  /// the last one.
  mutating func fate(sentAt instant: MonotonicInstant, byteCount: Int)
    -> EmulatedNetwork.DeliveryOutcome

  /// No packet arrives sooner after it was sent, in nanoseconds; 0 if that is not known.
  var leastDelay: Int64 { get }
}

extension PacketPath {
  /// Not known.
  package var leastDelay: Int64 { 0 }
}

extension EmulatedNetwork: PacketPath {}
