import Testing

@testable import CommandLine

struct LevelMeterTests {
  private func meter(_ notes: (decibels: Double, at: Double)...) -> LevelMeter {
    var meter = LevelMeter()
    for note in notes { meter.note(note.decibels, at: note.at) }
    return meter
  }

  @Test func itRisesAtOnceAndFallsSlowly() {
    let risen = meter((-20, 1))
    #expect(risen.level == -20 && risen.peak == -20)
    // 20 dB in 1.7 s, whatever the level is meanwhile.
    #expect(abs(meter((-20, 1), (-90, 2.7)).level - -40) < 1e-9)
    #expect(meter((-20, 1), (-25, 1.1)).level > -22)
    #expect(meter((-20, 1), (-100, 60)).level == -100, "no lower than silence")
  }

  @Test func theHighestLevelStaysForAWhile() {
    #expect(meter((-10, 1), (-50, 2.4)).peak == -10)
    let later = meter((-10, 1), (-50, 2.6))
    #expect(later.peak < -20 && later.peak == later.level)
    // Another one that is as high begins the time anew.
    #expect(meter((-10, 1), (-10, 2), (-50, 3.4)).peak == -10)
  }

  @Test func timeThatGoesBackLeavesTheLevel() {
    #expect(meter((-20, 5), (-90, 4)).level == -20)
  }

  @Test(arguments: [
    (-100.0, "......"), (-60, "......"), (-50, "#....."), (-30, "###..."), (0, "######"),
    (20, "######"),
  ])
  func theBarIsAsLongAsTheLevel(level: Double, bar: String) {
    #expect(meter((level, 1)).bar(6, full: "#", empty: ".", mark: "|") == bar)
  }

  @Test func theBarHasItsWidthAtAnyLevel() {
    for level in stride(from: -120.0, through: 20, by: 7) {
      #expect(meter((level, 0)).bar(20, full: "#", empty: ".", mark: "|").count == 20)
    }
  }

  @Test func theMarkStandsAtTheHighestLevel() {
    let meter = meter((-10, 1), (-40, 2.3))
    #expect(meter.bar(6, full: "#", empty: ".", mark: "|") == "###.|.")
  }
}
