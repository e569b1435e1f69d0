import RealTime
import Testing

struct TripleBufferTests {
  @Test func onlyTheNewestIsRead() {
    var writer = TripleBufferWriter<Int>()
    var reader = writer.makeReader()
    let before = reader.read()
    for value in 1...100 { writer.write(value) }
    let isRead = writer.isRead
    let newest = reader.read()
    let again = reader.read()
    #expect(before == nil)
    #expect(!isRead)
    #expect(newest == 100)
    #expect(again == nil)
    let isReadNow = writer.isRead
    #expect(isReadNow)
    writer.write(101)
    let next = reader.read()
    #expect(next == 101)
  }

  /// Three numbers that belong together.
  private struct Report: BitwiseCopyable {
    var count: Int
    var negative: Int
    var double: Int
  }

  @Test(.timeLimit(.minutes(10))) func valuesAreWholeAndInOrderWhileAnotherThreadWrites() throws {
    let last = 200_000
    var writer = TripleBufferWriter<Report>()
    var reader = writer.makeReader()
    let thread = try RealTimeThread(name: "writer", policy: .ordinary) { [writer = Moved(writer)] in
      for count in 1...last {
        writer.value.write(Report(count: count, negative: -count, double: 2 * count))
      }
    }
    var newest = 0
    while newest < last {
      guard let report = reader.read() else { continue }
      #expect(report.count > newest)
      #expect(report.negative == -report.count)
      #expect(report.double == 2 * report.count)
      newest = report.count
    }
    thread.join()
  }

  // SAFETY: only the thread that it was made for touches what is in it.
  private final class Moved: @unchecked Sendable {
    var value: TripleBufferWriter<Report>

    init(_ value: consuming TripleBufferWriter<Report>) { self.value = value }
  }
}
