import SidetonePhone
import VoiceEngine

/// What a call has counted since it began, over its holds: each begins the stream anew.
struct CallTotals: Equatable {
  /// What was counted, by what it is.
  struct Counts: Equatable {
    var packetsSent: Int64 = 0
    var packetsReceived: Int64 = 0
    var packetsLost: Int64 = 0
    var packetsLate: Int64 = 0
    /// Frames at 48 kHz.
    var decodedFrames: Int64 = 0
    var concealedFrames: Int64 = 0
    var recoveredFrames: Int64 = 0

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

  /// Of all streams of the call.
  var counts: Counts { ended + current }

  /// Takes in the newest figures of the call.
  mutating func note(_ statistics: CallStatistics) {
    let stream = statistics.stream
    let new = Counts(
      packetsSent: stream.packetsSent,
      packetsReceived: stream.packetsReceived,
      packetsLost: stream.packetsLost,
      packetsLate: stream.packetsLate,
      decodedFrames: stream.decodedFrames,
      concealedFrames: stream.concealedFrames,
      recoveredFrames: stream.recoveredFrames
    )
    let isSameStream =
      new.packetsSent >= current.packetsSent && new.packetsReceived >= current.packetsReceived
    if !isSameStream { ended = ended + current }
    current = new
  }
}
