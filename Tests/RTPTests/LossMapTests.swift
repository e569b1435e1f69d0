import MediaCore
import Simulation
import Testing

@testable import RTP

/// Loss RLE report blocks (RFC 3611 section 4.1).
struct LossMapTests {
  /// Writes `map` into a compound packet and parses that; one Boolean for each sequence number,
  /// true if it was received.
  private func told(_ map: inout LossMap) -> [Bool] {
    var packet = ByteBuffer(repeating: 0, count: RTCPWriter.maximumLength)
    let block = RTCPReportBlock(ssrc: 9)
    let length = RTCPWriter.write(
      to: &packet,
      ssrc: 4,
      sender: nil,
      block: block,
      losses: &map,
      tellsLosses: true,
      canonicalName: 1,
      isGoodbye: true
    )
    #expect(length % 4 == 0)
    var reader = RTCPReader()
    var bits: [Bool] = []
    var saidGoodbye = false
    while let item = reader.next(in: packet, length: length) {
      if case .goodbye = item { saidGoodbye = true }
      guard case .losses(4, var runs) = item else { continue }
      #expect(runs.ssrc == 9)
      while let run = runs.next(in: packet) {
        bits += [Bool](repeating: run.isReceived, count: run.count)
      }
    }
    #expect(saidGoodbye)
    return bits
  }

  private func map(_ arrivals: [Bool], from first: Int64) -> LossMap {
    var map = LossMap()
    map.begin(at: first)
    for (index, isReceived) in arrivals.enumerated() where isReceived {
      map.note(first + Int64(index))
    }
    // The last eight are not told yet.
    for index in 0..<8 { map.note(first + Int64(arrivals.count + index)) }
    return map
  }

  @Test(arguments: [1, 14, 15, 16, 29, 30, 100, 900])
  func everyPatternIsToldAsItWas(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    for share in [0, 0.01, 0.2, 0.5, 0.9] {
      let arrivals = (0..<count).map { _ in Double.random(in: 0..<1, using: &random) >= share }
      // The numbers wrap on the way.
      var map = map(arrivals, from: 65_500)
      #expect(told(&map) == arrivals)
    }
  }

  @Test func eachNumberIsToldOnce() {
    var map = map([true, false, true], from: 100)
    #expect(told(&map) == [true, false, true])
    #expect(told(&map) == [])
    // Too late for its report; and one that comes while there is time.
    map.note(101)
    map.note(112)
    map.note(113)
    map.note(111)
    map.note(121)
    #expect(told(&map) == [Bool](repeating: true, count: 11))
  }

  @Test func longSilenceTellsTheNewestOnly() {
    var map = map([true], from: 0)
    for number in 50_000..<50_009 { map.note(Int64(number)) }
    let bits = told(&map)
    #expect(bits.count == 1_920 && bits.last == true && bits.filter { $0 }.count == 1)
  }

  @Test(arguments: UInt64(1)...4)
  func damagedBlocksEndTheWalk(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var runsRead = 0
    for _ in 0..<2_000 {
      // An extended report with a loss block, and anything in it.
      let words = Int.random(in: 1...12, using: &random)
      var bytes: [UInt8] = [0x80, 207, 0, UInt8(words), 0, 0, 0, 4]
      bytes += (0..<words * 4 - 4).map { _ in UInt8.random(in: 0...255, using: &random) }
      if bytes.count > 11 {
        bytes.replaceSubrange(8..<12, with: [1, 0, 0, UInt8.random(in: 0..<12, using: &random)])
      }
      let packet = ByteBuffer(bytes)
      var reader = RTCPReader()
      while let item = reader.next(in: packet, length: bytes.count) {
        guard case .losses(_, var runs) = item else { continue }
        var left = 65_536
        while let run = runs.next(in: packet) {
          left -= run.count
          runsRead += 1
          #expect(run.count > 0 && left >= 0)
        }
      }
    }
    #expect(runsRead > 1_000)
  }
}
