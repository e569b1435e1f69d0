import Foundation
import ProgramRig
import Testing

struct SoakRecordTests {
  /// Twenty measurements of a process with 24 descriptors, three threads and 10,000 pages, and
  /// `more` descriptors in the second half.
  private static func record(more: Int = 0) -> SoakRecord {
    var record = SoakRecord(title: "A run", unit: "calls", command: "bench soak")
    record.date = nil
    record.samples = (0..<20).map { place in
      SoakRecord.Sample(
        at: Double(place),
        holdings: ProcessHoldings(
          descriptors: place < 10 ? 24 : 24 + more,
          threads: 3,
          pages: 10_000
        )
      )
    }
    return record
  }

  @Test func whatHasGrownIsNamed() {
    #expect(Self.record().growth == [])
    #expect(Self.record(more: 2).growth == [])
    #expect(Self.record(more: 3).growth == ["descriptors grew from 24.0 to 27.0"])
  }

  @Test func aRowHasTheColumnsOfTheHead() {
    let row = Self.record(more: 1).row
    let cells = "41.0 MB then 41.0 MB | 24 then 25 | 3 then 3 |  |  "
    #expect(row == "| A run | \(cells)| `bench soak` |")
    let columns = SoakRecord.head.split(separator: "\n").map { $0.split(separator: "|").count }
    #expect(columns == [7, 7])
  }

  @Test func aRecordIsReadAsItWasWritten() throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("soak-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let record = Self.record()
    try record.write(named: "soak", to: folder)
    let data = try Data(contentsOf: folder.appendingPathComponent("soak.json"))
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    #expect(try decoder.decode(SoakRecord.self, from: data).row == record.row)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/soak.svg"))
  }
}
