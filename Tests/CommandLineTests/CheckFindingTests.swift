import Foundation
import Localization
import Testing

@testable import CommandLine

struct CheckFindingTests {
  private let fault = CheckFinding.fault(
    subject: "microphone",
    saying: "it is silent",
    advising: "unmute it",
    ["peak": 0]
  )

  @Test func goodNeedsNoAdvice() {
    let good = CheckFinding.good(subject: "port 5060", saying: "free")
    #expect(good.verdict == .good && good.advice == nil && good.figures.isEmpty)
    #expect(good.line.split(separator: "\n").count == 1)
    #expect(good.line.contains("port 5060") && good.line.contains("free"))
  }

  @Test func adviceStandsBelowWhatItIsAbout() throws {
    let lines = fault.line.split(separator: "\n")
    try #require(lines.count == 2)
    #expect(lines[0].contains("it is silent"))
    let indent = lines[1].prefix { $0 == " " }.count
    #expect(lines[1].dropFirst(indent) == "-> unmute it")
    // Below the subject, which every finding has at the same column.
    #expect(lines[0].dropFirst(indent).hasPrefix("microphone"))
  }

  @Test func subjectsAreAligned() {
    let other = CheckFinding.advice(subject: "clock", saying: "X", advising: "Y")
    func column(_ finding: CheckFinding, _ text: String) -> Int? {
      finding.line.range(of: text).map {
        finding.line.distance(from: finding.line.startIndex, to: $0.lowerBound)
      }
    }
    #expect(column(other, "X") == column(fault, "it is silent"))
  }

  @Test func programsReadFieldsOfTheSameNames() throws {
    let object = try JSONSerialization.jsonObject(with: Data(fault.json.utf8))
    let fields = try #require(object as? [String: Any])
    #expect(Set(fields.keys) == ["subject", "verdict", "text", "advice", "figures"])
    #expect(fields["verdict"] as? String == "fault" && fields["advice"] as? String == "unmute it")
    #expect((fields["figures"] as? [String: Double]) == ["peak": 0])
  }

  /// Control characters in a device's name, which comes from outside, do not reach the terminal.
  @Test func controlCharactersDoNotReachTheTerminal() {
    let name = "\u{1B}[2Jcard\u{7}"
    let finding = CheckFinding.good(subject: "card", saying: "\(name)")
    #expect(!finding.line.contains("\u{1B}") && !finding.line.contains("\u{7}"))
    #expect(finding.line.contains("card"))
  }
}
