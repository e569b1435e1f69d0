import MediaCore
import RealTime

/// Stages of a packet's first sample from mouth to ear, in order.
package enum VoiceStage: Int, CaseIterable, Hashable, Sendable, BitwiseCopyable {
  /// Duration of the packet, from its first sample to its last.
  case packet
  /// Time from the last sample in the microphone to its read: the device's period, and blocks of
  /// filters.
  case capture
  /// Rate conversion and filters.
  case processing
  /// The encoder.
  case encode
  /// The system call that sends.
  case send
  /// Time from the system call to the kernel's timestamp of arrival, known only of packets that
  /// return to their sender.
  case network
  /// Time from the arrival to the decoder, by the loudspeaker's clock.
  case playout
  /// The decoder.
  case decode
  /// Decoded sound queued before the packet.
  case queue
  /// Sound in the loudspeaker's buffer.
  case fill
}

/// Time that one packet spent in one stage.
package struct StageTime: Equatable, Sendable, BitwiseCopyable {
  /// Stage that was timed.
  package var stage: VoiceStage
  /// Time in the stage, in nanoseconds.
  package var nanoseconds: Int64
}

/// Times of a block that the microphone has just delivered.
struct CapturedBlock {
  /// Time from the sampling of the last frame to its read, in nanoseconds.
  var age: Int64
  /// Time of the read.
  var read: MonotonicInstant
  /// Time at which rate conversion and filters were done.
  var processed: MonotonicInstant
}

/// Recorder, on the voice thread, of the time that each packet spends in each stage, for another
/// thread to read.
///
/// Times that do not fit into the ring are dropped.
struct StageTrace: ~Copyable {
  private var times: RingProducer<StageTime>
  private var sent = FixedArray<Int64>(repeating: 0, count: 256)

  init(times: consuming RingProducer<StageTime>) { self.times = times }

  // A full ring drops samples of a statistic.
  @_noAllocation @_noLocks
  mutating func note(_ stage: VoiceStage, _ nanoseconds: Int64) {
    _ = times.write(StageTime(stage: stage, nanoseconds: max(0, nanoseconds)))
  }

  /// Notes that the RTP packet in `datagram` was passed to the system at `instant`.
  @_noAllocation @_noLocks
  mutating func noteSending(_ datagram: borrowing ByteBuffer, at instant: MonotonicInstant) {
    sent[Int(datagram[3])] = instant.nanoseconds
  }

  /// Notes the arrival of a packet that this stream itself sent, for the time on the network.
  @_noAllocation @_noLocks
  mutating func noteArrival(_ datagram: borrowing ByteBuffer, at instant: MonotonicInstant) {
    let sent = sent[Int(datagram[3])]
    guard sent > 0, instant.nanoseconds - sent < 1_000_000_000 else { return }
    note(.network, instant.nanoseconds - sent)
  }
}
