import MediaCore
import Testing

@testable import RTP

struct SourceValidatorTests {
  private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

  private func admitted(_ verdict: SourceValidator.Verdict) -> Bool { verdict != .refuse }

  @Test func firstPacketIsTakenAtOnce() {
    var admission = SourceValidator(areAuthentic: true)
    let verdict1 = admission.judge(ssrc: 1, sequenceNumber: 9, at: now)
    #expect(verdict1 == .restart(65_545))
    let verdict2 = admission.judge(ssrc: 1, sequenceNumber: 10, at: now)
    #expect(verdict2 == .member(65_546))
  }

  @Test func sequenceNumbersWrapWithLossAndReordering() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 65_533, at: now)
    let verdict3 = admission.judge(ssrc: 1, sequenceNumber: 65_535, at: now)
    #expect(verdict3 == .member(131_071))
    let verdict4 = admission.judge(ssrc: 1, sequenceNumber: 1, at: now)
    #expect(verdict4 == .member(131_073))
    let verdict5 = admission.judge(ssrc: 1, sequenceNumber: 65_534, at: now)
    #expect(verdict5 == .member(131_070))
    let verdict6 = admission.judge(ssrc: 1, sequenceNumber: 0, at: now)
    #expect(verdict6 == .member(131_072))
  }

  @Test func newSourceNeedsTwoPacketsInSequence() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 10, at: now)
    let verdict7 = admission.judge(ssrc: 2, sequenceNumber: 500, at: now)
    #expect(verdict7 == .refuse)
    let verdict8 = admission.judge(ssrc: 2, sequenceNumber: 501, at: now)
    #expect(verdict8 == .restart(66_037))
    #expect(admission.ssrc == 2)
  }

  @Test func latePacketsOfTheOldSourceAreRefused() {
    var admission = SourceValidator(areAuthentic: true)
    for number in UInt16(0)..<20 {
      _ = admission.judge(ssrc: 1, sequenceNumber: number, at: now)
    }
    _ = admission.judge(ssrc: 2, sequenceNumber: 500, at: now)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501, at: now)
    for number in UInt16(0)..<8 {
      let verdict9 = admission.judge(ssrc: 1, sequenceNumber: 20 + number, at: now)
      #expect(verdict9 == .refuse)
      #expect(admitted(admission.judge(ssrc: 2, sequenceNumber: 502 + number, at: now)))
    }
  }

  @Test func earlierSourceComesBackAfterTenPackets() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 0, at: now)
    _ = admission.judge(ssrc: 2, sequenceNumber: 500, at: now)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501, at: now)
    let verdicts = (UInt16(100)..<110).map {
      admission.judge(ssrc: 1, sequenceNumber: $0, at: now)
    }
    #expect(verdicts.dropLast().allSatisfy { $0 == .refuse })
    #expect(admitted(verdicts[9]))
  }

  @Test func earlierSourceComesBackThoughPacketsAreLost() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 0, at: now)
    _ = admission.judge(ssrc: 2, sequenceNumber: 500, at: now)
    _ = admission.judge(ssrc: 2, sequenceNumber: 501, at: now)
    let numbers = (UInt16(100)..<130).filter { $0 % 3 != 0 }
    let verdicts = numbers.map { admission.judge(ssrc: 1, sequenceNumber: $0, at: now) }
    #expect(verdicts.prefix(9).allSatisfy { $0 == .refuse })
    #expect(verdicts.dropFirst(9).allSatisfy(admitted))
  }

  @Test func restartedNumberingIsTakenAtItsSecondPacket() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 10, at: now)
    let verdict10 = admission.judge(ssrc: 1, sequenceNumber: 30_000, at: now)
    #expect(verdict10 == .refuse)
    let verdict11 = admission.judge(ssrc: 1, sequenceNumber: 30_001, at: now)
    #expect(verdict11 == .restart(95_537))
  }

  /// A media server that begins each prompt at 0: after a pause the second packet begins anew.
  @Test func promptsThatBeginAtZeroAreHeard() {
    var validator = SourceValidator()
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var refused = 0
    for _ in 0..<3 {
      for number in UInt16(0)..<30 {
        now = now.advanced(byNanoseconds: 20_000_000)
        if !admitted(validator.judge(ssrc: 1, sequenceNumber: number, at: now)) { refused += 1 }
      }
      now = now.advanced(byNanoseconds: 230_000_000)
    }
    // The first of the second and of the third prompt.
    #expect(refused == 2)
  }

  @Test func latePacketsAfterASilenceChangeNothing() {
    var validator = SourceValidator()
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    for number in [UInt16](100...110) {
      _ = validator.judge(ssrc: 1, sequenceNumber: number, at: now)
      now = now.advanced(byNanoseconds: 20_000_000)
    }
    now = now.advanced(byNanoseconds: 300_000_000)
    for number in [107, 108, 111, 109] as [UInt16] {
      let verdict = validator.judge(ssrc: 1, sequenceNumber: number, at: now)
      guard case .member = verdict else {
        Issue.record("\(verdict)")
        continue
      }
    }
  }

  @Test func singleWildPacketChangesNothing() {
    var admission = SourceValidator(areAuthentic: true)
    _ = admission.judge(ssrc: 1, sequenceNumber: 10, at: now)
    _ = admission.judge(ssrc: 1, sequenceNumber: 30_000, at: now)
    let verdict12 = admission.judge(ssrc: 1, sequenceNumber: 11, at: now)
    #expect(verdict12 == .member(65_547))
  }

  /// Without authentication an active source is not replaced, however many packets others send.
  @Test(arguments: [2.5, 10, 20, 30, 60])
  func anotherSourceHasToWaitForSilence(milliseconds: Double) {
    var admission = SourceValidator()
    let period = Int64(milliseconds * 1e6)
    var time = now
    for number in UInt16(0)..<500 {
      #expect(admitted(admission.judge(ssrc: 1, sequenceNumber: number, at: time)))
      for place in Int64(1)...4 {
        let between = time.advanced(byNanoseconds: period * place / 4 - 1)
        let sequence = 4 * number &+ UInt16(place)
        #expect(!admitted(admission.judge(ssrc: 2, sequenceNumber: sequence, at: between)))
      }
      time = time.advanced(byNanoseconds: period)
    }
  }

  /// Conference bridges of carriers change their SSRC in mid-sentence, at each transfer.
  @Test(arguments: [2.5, 5, 10, 20, 30, 40, 60])
  func aSourceThatTakesOverWithoutAGapLosesLittle(milliseconds: Double) {
    var admission = SourceValidator()
    let period = Int64(milliseconds * 1e6)
    var time = now
    var refused: Int64 = 0
    // And back, seconds later.
    for (ssrc, first) in [(UInt32(1), UInt16(0)), (2, 9_000), (1, 1_000), (3, 5)] {
      for number in 0..<UInt16(2_000 / milliseconds) {
        time = time.advanced(byNanoseconds: period)
        let verdict = admission.judge(ssrc: ssrc, sequenceNumber: first &+ number, at: time)
        refused += verdict == .refuse ? period : 0
      }
      #expect(admission.ssrc == ssrc && refused <= 60_000_000)
      refused = 0
    }
  }

  /// Pauses do not end a source: one packet in 400 ms is enough.
  @Test func aPauseOfDiscontinuousTransmissionIsWaitedFor() {
    var admission = SourceValidator()
    _ = admission.judge(ssrc: 1, sequenceNumber: 0, at: now)
    let second = now.advanced(byNanoseconds: 400_000_000)
    _ = admission.judge(ssrc: 1, sequenceNumber: 1, at: second)
    let early = second.advanced(byNanoseconds: 599_999_999)
    let verdict1 = admission.judge(ssrc: 2, sequenceNumber: 500, at: early)
    let verdict2 = admission.judge(ssrc: 2, sequenceNumber: 501, at: early)
    #expect(verdict1 == .refuse && verdict2 == .refuse)
    let late = second.advanced(byNanoseconds: 600_000_000)
    #expect(admitted(admission.judge(ssrc: 2, sequenceNumber: 502, at: late)))
  }
}
