import Testing

@testable import CommandLine

struct RunningChartTests {
  @Test(arguments: [
    ([], 10.0, 10.0), ([3], 10, 10), ([11], 10, 20), ([20], 10, 20), ([21], 10, 50),
    ([51], 10, 100), ([450], 10, 500), ([0.5], 0.1, 0.5), ([nil, 30], 10, 50),
  ])
  func theScaleEndsAtOneTwoOrFive(values: [Double?], least: Double, top: Double) {
    #expect(RunningChart(values: values, leastTop: least).top == top)
  }

  @Test func eachValueIsAColumn() {
    let chart = RunningChart(values: [nil, 0, 5, 10], leastTop: 10)
    #expect(chart.rows(2, isUnicode: true) == ["   █", "  ██"])
    #expect(chart.rows(2, isUnicode: false) == ["   #", "  ##"])
    #expect(chart.rows(0, isUnicode: true) == [])
  }

  @Test func whatIsSmallIsStillSeen() {
    let chart = RunningChart(values: [0.001, 0], leastTop: 10)
    #expect(chart.rows(1, isUnicode: true) == ["▁ "])
    #expect(chart.rows(1, isUnicode: false) == [". "])
  }

  @Test func everyEighthHasABlockOfItsOwn() {
    let values = (0...8).map { Double($0) / 8 * 10 }
    #expect(RunningChart(values: values, leastTop: 10).rows(1, isUnicode: true) == [" ▁▂▃▄▅▆▇█"])
  }
}
