import MediaCore
import ProgramRig
import Testing

/// Calls of a second, spoken without a pause in two sentences, with known delays.
struct HindsightBoundTests {
  /// 2.5 ms at 48 kHz.
  private static let packetFrames: Int64 = 120
  /// Packets in a second, half of them in each of the two sentences.
  private static let packets = 400
  private static let starts = [0, 24_000, 48_000]

  private static func mouth(of packet: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(packet) * 2_500_000)
  }

  private static func note(_ packet: Int, after delay: Double, in bound: inout HindsightBound) {
    let mouth = mouth(of: packet)
    bound.note(
      from: Int64(packet) * packetFrames,
      frames: packetFrames,
      mouth: mouth,
      arrival: mouth.advanced(byNanoseconds: Int64(delay * 1e6))
    )
  }

  /// Lets each packet arrive 20 ms after its first frame was spoken, but for those in `delays`; nil
  /// is a loss.
  private static func bound(_ delays: [Int: Double?] = [:]) -> HindsightBound {
    var bound = HindsightBound(seconds: 1)
    for packet in 0..<packets {
      if let delay = delays[packet, default: 20] { note(packet, after: delay, in: &bound) }
    }
    return bound
  }

  private static func delay(_ delays: [Int: Double?] = [:], missing packets: Double = 0) -> Double {
    let share = packets / Double(Self.packets)
    return bound(delays).delay(of: starts, concealedShare: share) ?? .nan
  }

  @Test func constantDelayIsTheBound() {
    #expect(abs(Self.delay() - 20) < 1e-9)
    // Nothing is gained by leaving out what comes with the rest.
    #expect(abs(Self.delay(missing: 40.5) - 20) < 1e-9)
  }

  @Test func onlyTheSentenceOfALatePacketWaitsForIt() {
    #expect(abs(Self.delay([10: 100]) - (100 + 20) / 2) < 1e-9)
    #expect(abs(Self.delay([10: 100, 11: 97.5, 300: 60]) - (100 + 60) / 2) < 1e-9)
  }

  @Test func whatMayBeMissingIsWhatCostsMost() {
    let late: [Int: Double?] = [10: 100, 300: 60]
    #expect(abs(Self.delay(late, missing: 0.9) - (100 + 60) / 2) < 1e-9)
    #expect(abs(Self.delay(late, missing: 1.5) - (20 + 60) / 2) < 1e-6)
    #expect(abs(Self.delay(late, missing: 2.5) - 20) < 1e-6)
  }

  @Test func lostPacketsAreMissingAtAnyDelay() {
    let lost: [Int: Double?] = [10: 100, 50: nil, 350: nil]
    // They use up what may be missing, and are no reason for more.
    #expect(abs(Self.delay(lost) - (100 + 20) / 2) < 1e-9)
    #expect(abs(Self.delay(lost, missing: 2.5) - (100 + 20) / 2) < 1e-9)
    #expect(abs(Self.delay(lost, missing: 3.5) - 20) < 1e-6)
  }

  @Test func theFirstArrivalCountsInWhateverOrder() {
    var forwards = Self.bound([10: 100, 11: nil, 300: 25])
    var backwards = HindsightBound(seconds: 1)
    let copies = [(10, 40.0), (11, 30.0), (11, 50.0), (300, 90.0)]
    let firsts: [Int: Double] = [10: 100, 300: 25]
    for (packet, delay) in copies { Self.note(packet, after: delay, in: &forwards) }
    for (packet, delay) in copies.reversed() { Self.note(packet, after: delay, in: &backwards) }
    for packet in (0..<Self.packets).reversed() where packet != 11 {
      Self.note(packet, after: firsts[packet] ?? 20, in: &backwards)
    }
    for bound in [forwards, backwards] {
      let delay = bound.delay(of: Self.starts, concealedShare: 0) ?? .nan
      #expect(abs(delay - (40 + 25) / 2) < 1e-9)
    }
  }

  /// The beginning of a packet of 20 ms has waited for its end.
  @Test func aLongPacketIsAsLateAsItsFirstFrame() {
    var bound = HindsightBound(seconds: 1)
    for packet in stride(from: 0, to: Self.packets, by: 8) {
      let mouth = Self.mouth(of: packet)
      bound.note(
        from: Int64(packet) * Self.packetFrames,
        frames: 8 * Self.packetFrames,
        mouth: mouth,
        arrival: mouth.advanced(byNanoseconds: 30_000_000)
      )
    }
    let delay = bound.delay(of: Self.starts, concealedShare: 0) ?? .nan
    #expect(abs(delay - 30) < 1e-9)
    // At 20 ms the first four of eight units have not come: 30, 27.5, 25 and 22.5 ms.
    let missing = bound.missingShare(of: Self.starts, at: 20) ?? .nan
    #expect(abs(missing - 0.5) < 1e-9)
  }

  @Test func aFixedDelayMissesWhatComesLater() {
    let bound = Self.bound([10: 100, 50: nil, 300: 60])
    let missing = [10.0, 20, 60, 100].map { delay in
      (bound.missingShare(of: Self.starts, at: delay) ?? .nan) * Double(Self.packets)
    }
    for (found, expected) in zip(missing, [400.0, 3, 2, 1]) {
      #expect(abs(found - expected) < 1e-9)
    }
  }

  @Test func aCallThatWasNotHeardHasNoBound() {
    let bound = Self.bound()
    #expect(bound.delay(of: [], concealedShare: 0) == nil)
    #expect(bound.delay(of: [24_000], concealedShare: 0) == nil)
    #expect(bound.missingShare(of: [], at: 20) == nil)
    #expect(bound.missingShare(of: [24_000], at: 20) == nil)
  }
}
