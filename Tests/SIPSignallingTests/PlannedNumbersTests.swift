import Testing

@testable import SIPSignalling

struct PlannedNumbersTests {
  @Test func aDialogsNameIsDrawnOnceMore() {
    let numbers = PlannedNumbers(
      callID: "1e5c794b1f8d5b3b",
      tag: "7958ca89c5b862bf",
      after: 26_495
    )
    #expect(numbers?.sequence == 26_496)
    #expect(numbers?.names == [0x7958_ca89_c5b8_62bf, 0x1e5c_794b_1f8d_5b3b])
    let drawn = planning(numbers) { (drawSequence(), drawName(), drawName(), drawName()) }
    #expect(drawn.0 == 26_496 && drawn.1 == 0x7958_ca89_c5b8_62bf)
    #expect(drawn.2 == 0x1e5c_794b_1f8d_5b3b && drawn.3 != drawn.1)
    #expect(drawName() != drawName(), "nothing is left")
  }

  @Test(arguments: [
    ("1e5c794b1f8d5b3b@host", "7958ca89c5b862bf", 1), ("1e5c794b1f8d5b3b", "z958ca89c5b862bf", 1),
    ("1e5c794b1f8d5b3b", "7958ca89c5b862bf", 65_535),
  ])
  func othersGetANewName(callID: String, tag: String, sequence: Int) {
    #expect(PlannedNumbers(callID: callID, tag: tag, after: UInt32(sequence)) == nil)
  }
}
