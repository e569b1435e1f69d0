import Foundation
import Testing

@testable import CommandLine
@testable import SidetonePhone
@testable import VoiceEngine
@testable import VoiceStream

struct CallReportTests {
  private let call = UUID()

  private func history(moments: Int, farSide: String = "sip:bob@h") -> CallHistory {
    var history = CallHistory()
    history.note(.calling(call, to: farSide), saying: "Calling \(farSide) ...", at: 0)
    history.note(.connected(call, to: farSide), saying: nil, at: 1)
    for second in 0..<moments {
      let figures = CallStatistics.example(of: call, seconds: Double(second)) { stream, _ in
        stream.packetsReceived = Int64(second) * 99
        stream.packetsLost = Int64(second)
        stream.concealedFrames = Int64(second) * 480
        stream.playoutDelayNanoseconds = 4_000_000
      }
      history.note(figures, at: Double(second) + 1)
    }
    history.note(.ended(call, .hungUp), saying: "Call ended.", at: 3_661)
    return history
  }

  private func page(_ history: CallHistory) -> String {
    CallReport(history: history, begin: Date(timeIntervalSince1970: 0), version: "1.2").html
  }

  @Test func thePageHasFiguresChartsAndEvents() {
    let page = page(history(moments: 10))
    #expect(page.components(separatedBy: "<svg").count == 6)
    #expect(page.contains("9, 1.00 %"))
    #expect(page.contains("1:01:00"))
    #expect(page.contains("Call ended."))
  }

  @Test func aStageHasOneColourInBothCharts() {
    let figures = page(history(moments: 10)).components(separatedBy: "<svg")
    func colours(_ figure: String, of shape: String) -> [Substring] {
      figure.split(separator: "\n").filter { $0.hasPrefix("<\(shape)") }
        .compactMap { line in
          guard let begin = line.range(of: "fill=\"#")?.upperBound else { return nil }
          return line[begin...].prefix(6)
        }
    }
    let areas = colours(figures[1], of: "polygon")
    let bars = colours(figures[2], of: "rect x=")
    #expect(areas.count == 6 && Set(areas).count == 6 && areas == bars.reversed())
  }

  /// A hold begins the stream anew; what was counted before it still counts.
  @Test func theWholeCallIsCounted() throws {
    var history = history(moments: 10)
    for second in 0..<5 {
      let figures = CallStatistics.example(of: call, seconds: Double(second)) { stream, _ in
        stream.packetsReceived = Int64(second) * 100
        stream.packetsLost = Int64(second) * 2
      }
      history.note(figures, at: Double(second) + 20)
    }
    let counts = try #require(history.calls.first).totals.counts
    #expect(counts.packetsReceived == 9 * 99 + 4 * 100)
    #expect(counts.packetsLost == 9 + 4 * 2)
    #expect(page(history).contains("\(counts.packetsReceived)"))
  }

  @Test func nothingIsLoadedAndNothingIsInjected() {
    let page = page(history(moments: 3, farSide: "<script src=\"//evil\">&\u{1}"))
    #expect(!page.contains("<script"))
    #expect(page.contains("&lt;script src=&quot;//evil&quot;&gt;&amp; "))
    // The name of SVG's elements is no address that is fetched.
    let rest = page.replacing("http://www.w3.org/2000/svg", with: "")
    #expect(!rest.contains("http:") && !rest.contains("https:"))
    #expect(page.contains("default-src 'none'"))
  }

  @Test func aCallWithoutSoundIsReported() {
    let page = page(history(moments: 0))
    #expect(page.contains("Call ended."))
    #expect(!page.contains("<svg"))
  }

  @Test func aLongCallTakesNoMoreRoomAndLosesNothingOfItsCounts() throws {
    let history = history(moments: 20_000)
    #expect(history.moments.count <= 4_000)
    let last = try #require(history.moments.last)
    let before = history.moments[history.moments.count - 2]
    #expect(abs(last.lossPercent(since: before) - 1) < 0.01)
    #expect(abs(last.concealedPercent(since: before) - 1) < 0.01)
    #expect(history.calls.last?.statistics?.stream.packetsLost == 19_999)
  }

  @Test func stagesAddUp() {
    let statistics = CallStatistics.example(of: call) { stream, engine in
      stream.packetFrames = 480
      stream.roundTripNanoseconds = -1
      stream.lookAheadNanoseconds = 6_500_000
      engine.playbackFillNanoseconds = 3_000_000
    }
    let stages = DelayStages(statistics)
    #expect(stages[.packet] == 10 && stages[.network] == 0)
    #expect(abs(stages.total - 19.5) < 1e-9)
  }
}
