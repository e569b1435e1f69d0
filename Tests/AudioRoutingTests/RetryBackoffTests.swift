import Testing

@testable import AudioRouting

struct RetryBackoffTests {
  @Test(arguments: [(true, 1_000), (false, 100)])
  func deviceThatStaysAwayIsLookedForLess(isTold: Bool, milliseconds: Int) {
    var pace = RetryBackoff(isTold: isTold)
    var passed = 0
    while passed < 10_000 {
      #expect(pace.milliseconds == 100)
      passed += pace.milliseconds
      pace.noteLook()
    }
    for _ in 0..<100 { pace.noteLook() }
    #expect(pace.milliseconds == milliseconds)
    pace.hurry()
    #expect(pace.milliseconds == 100)
  }
}
