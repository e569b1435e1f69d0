import Foundation
import Testing

@testable import Drawing

struct AxisTests {
  @Test func ticksAreRoundEvenAndCoverTheData() throws {
    for low in [-1_000.0, -3.7, 0, 0.001, 12.3, 1e6] {
      for width in [0.002, 0.9, 7.3, 99, 12_345, 1e8] {
        let values = [low, low + width / 3, low + width]
        let ticks = Axis("ms").ticks(covering: values)
        try #require((2...10).contains(ticks.count), "\(low), \(width): \(ticks)")
        let step = ticks[1] - ticks[0]
        #expect(
          ticks[0] <= low + 1e-6 * step && ticks[ticks.count - 1] >= low + width - 1e-6 * step
        )
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { abs($1 - $0 - step) < 1e-6 * step })
        let mantissa = step / pow(10, floor(log10(step) + 1e-9))
        #expect([1, 2, 5].contains { abs(mantissa - $0) < 1e-6 }, "a step of \(step)")
      }
    }
  }

  @Test func rangeWidensWhatTheDataCover() {
    let ticks = Axis("PESQ", range: 1...4.5).ticks(covering: [3, 3.1])
    #expect(ticks.first == 1 && (ticks.last ?? 0) >= 4.5)
    #expect((Axis("ms", range: 0...10).ticks(covering: [50]).last ?? 0) >= 50)
  }

  @Test(arguments: [[], [5], [.nan], [.infinity, -.infinity], [1e300, -1e300], [0, 1e-12]])
  func whatCannotBeShownStillHasAnAxis(values: [Double]) {
    let ticks = Axis("x").ticks(covering: values)
    #expect(ticks.count >= 2 && ticks.allSatisfy(\.isFinite))
    #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func marksAreDrawnAsTheirKind() {
    func count(_ mark: Chart.Mark, of element: String) -> Int {
      let chart = Chart(
        title: "t",
        horizontal: Axis("x"),
        vertical: Axis("y"),
        series: [.init("s", (0..<5).map { Point(x: Double($0), y: Double($0)) }, mark: mark)]
      )
      return chart.svg().components(separatedBy: element).count - 1
    }
    // Five points and the legend's.
    #expect(count(.dots, of: "<circle") == 6 && count(.rings, of: "<circle") == 6)
    #expect(count(.line, of: "<circle") == 0 && count(.line, of: "<polyline") == 1)
  }
}
