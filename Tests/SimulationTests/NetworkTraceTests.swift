import MediaCore
import Simulation
import Testing

struct NetworkTraceTests {
  private static func delays(_ text: String, count: Int) throws -> [Double?] {
    var trace = try NetworkTrace(parsing: text)
    return (0..<count).map { index in
      let sent = MonotonicInstant(nanoseconds: 5_000_000_000 + Int64(index) * 20_000_000)
      let fate = trace.fate(sentAt: sent, byteCount: 100)
      return fate.arrival.map { Double($0.nanoseconds(since: sent)) / 1e6 }
    }
  }

  @Test func replaysWhatWasRecordedOverAndOver() throws {
    let text = """
      # departure arrival
      1000 8050
      1020 lost
      1040\t8095
      1060, 8112.5
      """
    // The fastest packet counts as a millisecond under way.
    let expected: [Double?] = [1, nil, 6, 3.5, 1, nil, 6, 3.5]
    #expect(try Self.delays(text, count: 8) == expected)
  }

  @Test func readsFilesFromWindows() throws {
    #expect(try Self.delays("# both\r\n1000 8050\r\n1020 lost\r\n", count: 2) == [1, nil])
  }

  @Test(arguments: ["1 2\nsoon 3", "1 2\n5", "1 2\n5 nan", "1 2\n3 4 5", "1 2\n3 LOST"])
  func tellsWhichLineMakesNoSense(text: String) {
    #expect(throws: NetworkTrace.ParseError.unreadable(line: 2)) {
      try NetworkTrace(parsing: text)
    }
  }

  @Test(arguments: ["", "# nothing", "1 lost\n2 lost"])
  func needsAPacketThatArrived(text: String) {
    #expect(throws: NetworkTrace.ParseError.empty) { try NetworkTrace(parsing: text) }
  }
}
