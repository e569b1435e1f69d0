import Testing

@testable import RTP

struct SourceValidatorTests {
  private func admitted(_ verdict: SourceValidator.Verdict) -> Bool { verdict != .refuse }

  @Test func firstPacketIsTakenAtOnce() {
    var admission = SourceValidator()
    let verdict1 = admission.judge(ssrc: 1, sequenceNumber: 9)
    #expect(verdict1 == .restart(65_545))
    let verdict2 = admission.judge(ssrc: 1, sequenceNumber: 10)
    #expect(verdict2 == .member(65_546))
  }

  @Test func sequenceNumbersWrapWithLossAndReordering() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 65_533)
    let verdict3 = admission.judge(ssrc: 1, sequenceNumber: 65_535)
    #expect(verdict3 == .member(131_071))
    let verdict4 = admission.judge(ssrc: 1, sequenceNumber: 1)
    #expect(verdict4 == .member(131_073))
    let verdict5 = admission.judge(ssrc: 1, sequenceNumber: 65_534)
    #expect(verdict5 == .member(131_070))
    let verdict6 = admission.judge(ssrc: 1, sequenceNumber: 0)
    #expect(verdict6 == .member(131_072))
  }

  @Test func newSourceNeedsTwoPacketsInSequence() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 10)
    let verdict7 = admission.judge(ssrc: 2, sequenceNumber: 500)
    #expect(verdict7 == .refuse)
    let verdict8 = admission.judge(ssrc: 2, sequenceNumber: 501)
    #expect(verdict8 == .restart(66_037))
    #expect(admission.ssrc == 2)
  }

  @Test func latePacketsOfTheOldSourceAreRefused() {
    var admission = SourceValidator()
    for number in UInt16(0)..<20 { _ = admission.judge(ssrc: 1, sequenceNumber: number) }
    _ = admission.judge(ssrc: 2, sequenceNumber: 500)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501)
    for number in UInt16(0)..<8 {
      let verdict9 = admission.judge(ssrc: 1, sequenceNumber: 20 + number)
      #expect(verdict9 == .refuse)
      #expect(admitted(admission.judge(ssrc: 2, sequenceNumber: 502 + number)))
    }
  }

  @Test func earlierSourceComesBackAfterTenPackets() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 0)
    _ = admission.judge(ssrc: 2, sequenceNumber: 500)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501)
    let verdicts = (UInt16(100)..<110).map { admission.judge(ssrc: 1, sequenceNumber: $0) }
    #expect(verdicts.dropLast().allSatisfy { $0 == .refuse })
    #expect(admitted(verdicts[9]))
  }

  @Test func earlierSourceComesBackThoughPacketsAreLost() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 0)
    _ = admission.judge(ssrc: 2, sequenceNumber: 500)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501)
    let numbers = (UInt16(100)..<130).filter { $0 % 3 != 0 }
    let verdicts = numbers.map { admission.judge(ssrc: 1, sequenceNumber: $0) }
    #expect(verdicts.prefix(9).allSatisfy { $0 == .refuse })
    #expect(verdicts.dropFirst(9).allSatisfy(admitted))
  }

  @Test func restartedNumberingIsTakenAtItsSecondPacket() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 10)
    let verdict10 = admission.judge(ssrc: 1, sequenceNumber: 30_000)
    #expect(verdict10 == .refuse)
    let verdict11 = admission.judge(ssrc: 1, sequenceNumber: 30_001)
    #expect(verdict11 == .restart(95_537))
  }

  @Test func singleWildPacketChangesNothing() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 10)
    _ = admission.judge(ssrc: 1, sequenceNumber: 30_000)
    let verdict12 = admission.judge(ssrc: 1, sequenceNumber: 11)
    #expect(verdict12 == .member(65_547))
  }
}
