import Drawing
import Foundation
import FoundationXML
import Testing

struct ChartTests {
  private let chart = Chart(
    title: "delay & loss",
    horizontal: Axis("time (s)"),
    vertical: Axis("delay (ms)", range: 0...10),
    series: [
      .init("ours <1>", [Point(x: 0, y: 12), Point(x: 1, y: .nan), Point(x: 2, y: 30)]),
      .init("theirs", [Point(x: 0, y: 80), Point(x: 3, y: .infinity)], mark: .dots),
    ]
  )

  @Test func isWellFormedWithLabelsAndLegend() throws {
    let svg = chart.svg()
    let parser = XMLParser(data: Data(svg.utf8))
    #expect(parser.parse())
    for text in ["delay &amp; loss", "time (s)", "delay (ms)", "ours &lt;1&gt;", "theirs"] {
      #expect(svg.contains(">\(text)</text>"))
    }
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  @Test func aNumberThatIsMissingInterruptsTheLine() {
    #expect(!chart.svg().contains("<polyline"))
    let whole = Chart(
      title: "",
      horizontal: Axis(""),
      vertical: Axis(""),
      series: [.init("", [Point(x: 0, y: 1), Point(x: 1, y: 2), Point(x: 2, y: 3)])]
    )
    #expect(whole.svg().components(separatedBy: "<polyline").count == 2)
  }

  @Test func nothingToDrawIsNoFault() {
    let empty = Chart(title: "", horizontal: Axis("x"), vertical: Axis("y"), series: [])
    #expect(XMLParser(data: Data(empty.svg().utf8)).parse())
    let waterfall = Waterfall(title: "", axis: Axis("ms"), stages: [])
    #expect(XMLParser(data: Data(waterfall.svg().utf8)).parse())
  }

  @Test func eachBarBeginsWhereTheLastEnded() throws {
    let waterfall = Waterfall(
      title: "stages",
      axis: Axis("ms"),
      stages: [.init("a", 10), .init("b", 30)]
    )
    let bars = waterfall.svg().split(separator: "\n").filter { $0.hasPrefix("<rect x=") }
    let numbers = bars.map { bar in
      bar.split(separator: "\"").compactMap { Double($0) }
    }
    try #require(numbers.count == 2 && numbers[0].count >= 3)
    #expect(abs(numbers[0][0] + numbers[0][2] - numbers[1][0]) < 0.02)
    #expect(abs(numbers[1][2] / numbers[0][2] - 3) < 0.01)
  }
}
