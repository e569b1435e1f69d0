import MediaTime
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
    let wall: Int64 = 1_700_000_000_000_000_000
    var near = RTCPSession(localSSRC: 1, seed: 5)
    let sent = RTCPSession.ntpTime(wallNanoseconds: wall)
    let block = RTCPReportBlock(
      ssrc: 1,
      fractionLost: 0,
      cumulativeLost: 0,
      highestSequence: 0,
      jitter: 0,
      lastSenderReport: UInt32(truncatingIfNeeded: sent >> 16),
      delaySinceLastSenderReport: 65_536 / 2
    )
    near.receive(
      .report(reporter: 2, block),
      from: 2,
      at: instant(0),
      wallNanoseconds: wall + 580_000_000
    )
    let roundTrip = try #require(near.roundTripNanoseconds)
    #expect(abs(roundTrip - 80_000_000) < 100_000)
  }

  @Test func goodbyeOfAnotherSourceIsIgnored() {
    var session = RTCPSession(localSSRC: 1, seed: 5)
    session.receive(.goodbye(ssrc: 8), from: 9, at: instant(0), wallNanoseconds: 0)
    #expect(!session.isFarGone)
    session.receive(.goodbye(ssrc: 9), from: 9, at: instant(0), wallNanoseconds: 0)
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
