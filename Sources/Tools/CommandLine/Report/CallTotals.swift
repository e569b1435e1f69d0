import SidetonePhone
import VoiceEngine

/// Counts of a call since it began, summed over its streams: each hold begins a new one.
struct CallTotals: Equatable {
  /// Counts of packets and of frames.
  struct Counts: Equatable {
    var packetsSent: Int64 = 0
    var packetsReceived: Int64 = 0
    var packetsLost: Int64 = 0
    var packetsLate: Int64 = 0
    /// Decoded frames, at 48 kHz as the other ones.
    var decodedFrames: Int64 = 0
    var concealedFrames: Int64 = 0
    var recoveredFrames: Int64 = 0

    /// True unless `later` is of another stream, which counts from zero.
    func isContinued(by later: Counts) -> Bool {
      later.packetsSent >= packetsSent && later.packetsReceived >= packetsReceived
    }

    static func + (one: Counts, other: Counts) -> Counts {
      Counts(
        packetsSent: one.packetsSent + other.packetsSent,
        packetsReceived: one.packetsReceived + other.packetsReceived,
        packetsLost: one.packetsLost + other.packetsLost,
        packetsLate: one.packetsLate + other.packetsLate,
        decodedFrames: one.decodedFrames + other.decodedFrames,
        concealedFrames: one.concealedFrames + other.concealedFrames,
        recoveredFrames: one.recoveredFrames + other.recoveredFrames
      )
    }
  }

  private var ended = Counts()
  private var current = Counts()

  /// Counts of all streams of the call.
  var counts: Counts { ended + current }

  /// Takes in the newest figures of the call.
  mutating func note(_ statistics: CallStatistics) {
    let new = Counts(statistics.stream)
    if !current.isContinued(by: new) { ended = ended + current }
    current = new
  }
}

extension CallTotals.Counts {
  /// Takes the counts of a stream.
  init(_ stream: StreamStatistics) {
    packetsSent = stream.packetsSent
    packetsReceived = stream.packetsReceived
    packetsLost = stream.packetsLost
    packetsLate = stream.packetsLate
    decodedFrames = stream.decodedFrames
    concealedFrames = stream.concealedFrames
    recoveredFrames = stream.recoveredFrames
  }
}
