import MediaCore
import Testing

@testable import RTP

struct RTCPTests {
  private func instant(_ milliseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
  }

  private func items(_ packet: borrowing ByteBuffer, _ length: Int) -> [RTCPItem] {
    var reader = RTCPReader()
    var items: [RTCPItem] = []
    while let item = reader.next(in: packet, length: length) { items.append(item) }
    return items
  }

  @Test func compoundPacketRoundTrips() {
    var packet = ByteBuffer(repeating: 0, count: RTCPWriter.maximumLength)
    let sender = RTCPSenderInformation(
      ntpTime: 0x0123_4567_89AB_CDEF,
      timestamp: RTPTimestamp(rawValue: 77),
      packetCount: 5,
      octetCount: 600
    )
    let block = RTCPReportBlock(
      ssrc: 9,
      fractionLost: 128,
      cumulativeLost: -3,
      highestSequence: 70_000,
      jitter: 42,
      lastSenderReport: 1,
      delaySinceLastSenderReport: 2
    )
    var losses = LossMap()
    let length = RTCPWriter.write(
      to: &packet,
      ssrc: 4,
      sender: sender,
      block: block,
      losses: &losses,
      tellsLosses: true,
      canonicalName: 0xABCD,
      isGoodbye: true
    )
    #expect(length % 4 == 0)
    #expect(
      items(packet, length) == [
        .senderInformation(ssrc: 4, sender), .report(reporter: 4, block), .goodbye(ssrc: 4),
      ]
    )
  }

  @Test func receiverReportWithoutBlockIsLegal() {
    var packet = ByteBuffer(repeating: 0, count: RTCPWriter.maximumLength)
    var losses = LossMap()
    let length = RTCPWriter.write(
      to: &packet,
      ssrc: 4,
      sender: nil,
      block: nil,
      losses: &losses,
      tellsLosses: true,
      canonicalName: 1,
      isGoodbye: false
    )
    #expect(packet[1] == 201 && packet[0] == 0x80)
    #expect(items(packet, length).isEmpty)
  }

  @Test func roundTripComesFromTheEchoedReport() throws {
    var near = RTCPSession(localSSRC: 1, seed: 5)
    func information(_ wall: Int64) -> RTCPSenderInformation {
      RTCPSenderInformation(
        ntpTime: RTCPSession.ntpTime(wallNanoseconds: wall),
        timestamp: RTPTimestamp(rawValue: 0),
        packetCount: 0,
        octetCount: 0
      )
    }
    func answer(to middle: UInt32) -> RTCPItem {
      .report(
        reporter: 2,
        RTCPReportBlock(
          ssrc: 1,
          lastSenderReport: middle,
          delaySinceLastSenderReport: 65_536 / 2
        )
      )
    }
    // The clock on the wall is set back by an hour, then by 30 ms, while the report is under way.
    let wall: Int64 = 1_700_000_000_000_000_000
    let first = information(wall)
    near.noteSending(first, at: instant(1_000))
    let second = information(wall - 3_600_000_000_000)
    near.noteSending(second, at: instant(3_000))
    near.receive(answer(to: first.middleOfNTPTime), from: 2, at: instant(1_580))
    #expect(near.roundTripNanoseconds == 80_000_000)
    near.receive(answer(to: second.middleOfNTPTime), from: 2, at: instant(3_540))
    #expect(near.newestRoundTripNanoseconds == 40_000_000)
    // A report that names none of ours, or answers too early, tells nothing new.
    near.receive(answer(to: 7), from: 2, at: instant(3_600))
    #expect(near.newestRoundTripNanoseconds == nil && near.roundTripNanoseconds == 40_000_000)
    near.receive(answer(to: second.middleOfNTPTime), from: 2, at: instant(3_400))
    #expect(near.newestRoundTripNanoseconds == nil)
  }

  @Test func goodbyeOfAnotherSourceIsIgnored() {
    var session = RTCPSession(localSSRC: 1, seed: 5)
    session.receive(.goodbye(ssrc: 8), from: 9, at: instant(0))
    #expect(!session.isFarGone)
    session.receive(.goodbye(ssrc: 9), from: 9, at: instant(0))
    #expect(session.isFarGone)
  }

  @Test func reportsComeAtIrregularIntervals() {
    var session = RTCPSession(localSSRC: 1, seed: 5)
    let due = (0..<60_000).filter { session.takeReportDue(at: instant(Int64($0))) }
    let gaps = zip(due.dropFirst(), due).map { $0 - $1 }
    #expect(gaps.allSatisfy { (1_400...2_600).contains($0) })
    #expect(Set(gaps).count > 10)
  }

  @Test func fractionAndCumulativeLossFollowTheRFC() {
    var statistics = ReceptionStatistics(clockRate: .voice)
    statistics.begin(at: 65_536)
    for sequence in 0..<100 where sequence % 4 != 0 || sequence == 0 {
      statistics.receive(
        sequence: 65_536 + Int64(sequence),
        timestamp: RTPTimestamp(rawValue: 0),
        at: instant(0)
      )
    }
    #expect(statistics.expected == 100)
    #expect(statistics.cumulativeLost == 24)
    let verdict1 = statistics.takeFractionLost()
    #expect(verdict1 == 24 * 256 / 100)
    let verdict2 = statistics.takeFractionLost()
    #expect(verdict2 == 0)
  }

  @Test func jitterOfAnEvenStreamIsZeroAndGrowsWithSpread() {
    var even = ReceptionStatistics(clockRate: .voice)
    var uneven = ReceptionStatistics(clockRate: .voice)
    even.begin(at: 0)
    uneven.begin(at: 0)
    for index in 0..<500 {
      let stamp = RTPTimestamp(rawValue: UInt32(index * 480))
      even.receive(sequence: Int64(index), timestamp: stamp, at: instant(Int64(index) * 10))
      uneven.receive(
        sequence: Int64(index),
        timestamp: stamp,
        at: instant(Int64(index) * 10 + Int64(index % 2) * 4)
      )
    }
    #expect(even.jitterTicks < 1)
    // |D| is 4 ms each time: the estimate converges to 192 ticks.
    #expect(abs(uneven.jitterTicks - 192) < 2)
  }
}
