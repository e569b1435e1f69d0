import MediaCore
import RealTime

/// The stations of a packet's first sample from mouth to ear, in order.
package enum VoiceStage: Int, CaseIterable, Hashable, Sendable, BitwiseCopyable {
  /// From the first sample of the packet to the last: its duration.
  case packet
  /// From the last sample in the microphone to its being read: the device's period, and blocks of
  /// filters.
  case capture
  /// Rate conversion and filters.
  case processing
  /// The encoder.
  case encode
  /// The system call that sends.
  case send
  /// From there to the kernel's note of arrival; known of packets that come back to their sender.
  case network
  /// From the arrival to the decoder, by the loudspeaker's clock.
  case playout
  /// The decoder.
  case decode
  /// Decoded sound that is to be played before.
  case queue
  /// What the loudspeaker's buffer holds.
  case fill
}

/// How long one packet spent in one stage.
package struct StageTime: Equatable, Sendable, BitwiseCopyable {
  /// Where.
  package var stage: VoiceStage
  /// How long, in nanoseconds.
  package var nanoseconds: Int64
}

/// What the microphone has just delivered.
struct CapturedBlock {
  /// How long before its reading the last frame was sampled, in nanoseconds.
  var age: Int64
  /// When it was read.
  var read: MonotonicInstant
  /// When rate conversion and filters were done.
  var processed: MonotonicInstant
}

/// Notes on the voice thread how long each packet spends in each stage, for another thread to read.
///
/// What does not fit into the ring is left out.
struct StageTrace: ~Copyable {
  private var times: RingProducer<StageTime>
  private var sent = FixedArray<Int64>(repeating: 0, count: 256)

  init(times: consuming RingProducer<StageTime>) { self.times = times }

  // A full ring drops samples of a statistic.
  @_noAllocation @_noLocks
  mutating func note(_ stage: VoiceStage, _ nanoseconds: Int64) {
    _ = times.write(StageTime(stage: stage, nanoseconds: max(0, nanoseconds)))
  }

  /// Notes that the RTP packet in `datagram` was handed to the system at `instant`.
  @_noAllocation @_noLocks
  mutating func noteSending(_ datagram: borrowing ByteBuffer, at instant: MonotonicInstant) {
    sent[Int(datagram[3])] = instant.nanoseconds
  }

  /// Notes how long a packet that this stream itself sent was under way.
  @_noAllocation @_noLocks
  mutating func noteArrival(_ datagram: borrowing ByteBuffer, at instant: MonotonicInstant) {
    let sent = sent[Int(datagram[3])]
    guard sent > 0, instant.nanoseconds - sent < 1_000_000_000 else { return }
    note(.network, instant.nanoseconds - sent)
  }
}
