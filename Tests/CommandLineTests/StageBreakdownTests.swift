import Foundation
import Testing

@testable import CommandLine
@testable import VoiceEngine

struct StageBreakdownTests {
  private func breakdown(_ times: (VoiceStage, Int64)...) -> StageBreakdown {
    var breakdown = StageBreakdown()
    breakdown.lookAheadNanoseconds = 2_500_000
    breakdown.add(times.map { StageTime(stage: $0, nanoseconds: $1 * 1_000) })
    return breakdown
  }

  @Test func stagesAreInTheOrderOfTheVoice() {
    let rows = breakdown((.playout, 3), (.packet, 1), (.encode, 2)).rows
    #expect(
      rows.map(\.name) == [
        "packet's duration", "encode", "codec's look-ahead", "playout's hold-back",
      ]
    )
    #expect(rows[2].median == 2.5 && rows[2].highest == 2.5)
  }

  @Test func figuresAreThoseOfAllPackets() throws {
    var breakdown = StageBreakdown()
    breakdown.add((1...1_000).map { StageTime(stage: .send, nanoseconds: $0 * 1_000_000) })
    let row = try #require(breakdown.rows.first)
    // Three digits of the histogram.
    #expect(abs(row.median - 500) <= 1 && abs(row.percentile95 - 950) <= 1)
    #expect(abs(row.percentile999 - 999) <= 1 && abs(row.highest - 1_000) <= 1)
  }

  @Test func theBarsFollowEachOther() throws {
    let text = breakdown((.packet, 10_000), (.playout, 10_000), (.decode, 1)).text
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.count == 5, "a title, three stages, the sum")
    let first = try #require(lines[1].lastIndex(of: "#"))
    let second = try #require(lines[2].firstIndex(of: "#"))
    #expect(
      lines[1].distance(from: lines[1].startIndex, to: first) + 1
        == lines[2].distance(from: lines[2].startIndex, to: second)
    )
    #expect(lines[1].count { $0 == "#" } == 20)
    // A stage that is too short for a bar is still there.
    #expect(lines[3].hasSuffix("|"))
    #expect(lines[4].hasSuffix(" 20.001"))
  }

  @Test func nothingMeasuredIsNoFault() {
    let empty = StageBreakdown()
    #expect(empty.rows.isEmpty && empty.fields.isEmpty)
    #expect(empty.text.hasSuffix("0.000") && empty.svg.hasPrefix("<svg"))
    #expect(breakdown((.encode, 1)).svg.contains("encode"))
  }

  @Test func programsGetThreeFiguresOfEachStage() throws {
    let fields = JSONValue.object(breakdown((.network, 1_000)).fields)
    let line = try #require(fields.line)
    let object =
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: [String: Double]]
    #expect(object?["network"]?.keys.sorted() == ["median", "p95", "p999"])
    #expect(abs((object?["network"]?["median"] ?? 0) - 1) < 0.01)
  }
}
