import MediaCore
import Playout
import RTP

/// Counters and measurements of a stream since it began.
///
/// The voice thread updates them ten times a second.
public struct StreamStatistics: Equatable, Sendable, BitwiseCopyable {
  /// RTP packets sent.
  public var packetsSent: Int64 = 0
  /// Payload bytes sent.
  public var bytesSent: Int64 = 0
  /// Frames at 48 kHz in each packet that is sent.
  public var packetFrames = 0
  /// Number of earlier payloads that each packet sent repeats (RFC 2198).
  public var redundancyDepth = 0
  /// RTP packets received, duplicates included.
  public var packetsReceived: Int64 = 0
  /// RTP packets expected, but not received.
  public var packetsLost: Int64 = 0
  /// RTP packets that arrived too late to be played.
  public var packetsLate: Int64 = 0
  /// Interarrival jitter (RFC 3550 A.8) in nanoseconds.
  public var jitterNanoseconds: Int64 = 0
  /// Playout delay of received packets beyond the fastest, in nanoseconds.
  public var playoutDelayNanoseconds: Int64 = 0
  /// Target of the playout delay, in nanoseconds.
  public var playoutTargetNanoseconds: Int64 = 0
  /// Round-trip time from RTCP, -1 before it is known.
  public var roundTripNanoseconds: Int64 = -1
  /// Share of sent packets that the far side last reported lost, in 1/256.
  public var farFractionLost: Int = 0
  /// Frames at 48 kHz decoded from packets.
  public var decodedFrames: Int64 = 0
  /// Frames at 48 kHz concealed for missing packets.
  public var concealedFrames: Int64 = 0
  /// Frames at 48 kHz decoded from copies or in-band redundancy in later packets.
  public var recoveredFrames: Int64 = 0
  /// Frames at 48 kHz that time-stretching has removed.
  public var removedFrames: Int64 = 0
  /// Frames at 48 kHz that time-stretching has added.
  public var addedFrames: Int64 = 0
  /// The highest level received, 0 to 1, since the statistics were last read.
  public var outputPeak: Float = 0
  /// Sends and receives that ended with an ICMP refusal since the last packet received.
  public var refusals: Int = 0
  /// Nanoseconds since the last packet from the far side.
  public var silenceNanoseconds: Int64 = 0
  /// True after the far side's RTCP BYE.
  public var isFarGone = false
  /// Algorithmic delay of the codec, encoder and decoder, in nanoseconds.
  public var lookAheadNanoseconds: Int64 = 0

  @_noAllocation @_noLocks
  init() {}

  @_noAllocation @_noLocks
  mutating func note(_ reception: ReceptionStatistics, clockRate: SampleRate) {
    packetsReceived = reception.received
    packetsLost = max(0, reception.cumulativeLost)
    jitterNanoseconds = Int64(reception.jitterTicks * 1e9 / Double(clockRate.hertz))
  }

  @_noAllocation @_noLocks
  mutating func note(_ voice: borrowing VoiceReceiver) {
    let counters = voice.jitterBuffer.counters
    removedFrames = voice.removedFrames
    addedFrames = voice.addedFrames
    packetsLate = counters.latePackets
    playoutDelayNanoseconds = voice.jitterBuffer.delayNanoseconds
    playoutTargetNanoseconds = voice.jitterBuffer.targetNanoseconds
    decodedFrames = counters.decodedFrames
    // What was concealed and not played after all is taken back there; here no counter goes down.
    concealedFrames = max(concealedFrames, counters.concealedFrames)
    recoveredFrames = counters.recoveredFrames
  }

  /// Copies the counters of the sender.
  @_noAllocation @_noLocks
  mutating func note(_ sender: borrowing VoiceSender) {
    packetsSent = sender.packetsSent
    bytesSent = sender.bytesSent
    lookAheadNanoseconds = SampleRate.voice.nanoseconds(of: sender.lookAhead)
    packetFrames = sender.plan.packetFrames
    redundancyDepth = sender.plan.redundancyDepth
  }
}
