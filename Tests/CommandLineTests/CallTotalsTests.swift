import Foundation
import SidetonePhone
import Testing

@testable import CommandLine
@testable import VoiceEngine
@testable import VoiceStream

struct CallTotalsTests {
  private let call = UUID()

  private func figures(_ count: Int64) -> CallStatistics {
    CallStatistics.example(of: call) { stream, _ in
      stream.packetsSent = 10 * count
      stream.packetsReceived = 9 * count
      stream.packetsLost = count
      stream.packetsLate = 2 * count
      stream.decodedFrames = 480 * count
      stream.concealedFrames = 48 * count
      stream.recoveredFrames = 24 * count
    }
  }

  private func totals(_ counts: Int64...) -> CallTotals.Counts {
    var totals = CallTotals()
    for count in counts { totals.note(figures(count)) }
    return totals.counts
  }

  private func counts(_ count: Int64) -> CallTotals.Counts { .init(figures(count).stream) }

  @Test func theNewestFiguresOfAStreamCount() {
    #expect(totals() == .init())
    #expect(totals(1, 2, 7) == counts(7))
    #expect(totals(7, 7) == counts(7))
  }

  @Test func streamsAreAddedUp() {
    #expect(totals(1, 7, 0, 2) == counts(9))
    #expect(totals(5, 1, 3, 2) == counts(10), "5, then 3, then 2")
  }

  @Test func allCountsAreThoseOfTheStream() {
    let counts = counts(3)
    #expect(counts.packetsSent == 30 && counts.packetsReceived == 27 && counts.packetsLost == 3)
    #expect(counts.packetsLate == 6 && counts.decodedFrames == 1_440)
    #expect(counts.concealedFrames == 144 && counts.recoveredFrames == 72)
  }

  @Test func aStreamGoesOnWhileItsPacketsDo() {
    var later = counts(3)
    // Losses are made good by packets that come late.
    later.packetsLost = 0
    #expect(counts(2).isContinued(by: later))
    later.packetsReceived = 0
    #expect(!counts(2).isContinued(by: later))
  }
}
