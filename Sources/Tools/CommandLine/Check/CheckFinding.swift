import Foundation
import Localization

/// One thing that calls need, and how it is on this machine.
struct CheckFinding: Equatable {
  enum Verdict: String, CaseIterable {
    /// Calls have what they need.
    case good
    /// Calls work, and could work better.
    case advice
    /// Calls do not work.
    case fault

    /// What a line begins with, in the user's language.
    var mark: String {
      switch self {
      case .good: String(localized: "good")
      case .advice: String(localized: "note")
      case .fault: String(localized: "FAULT")
      }
    }
  }

  /// What was looked at, for example "microphone".
  let subject: LocalizationValue
  let verdict: Verdict
  /// How it is.
  let text: LocalizationValue
  /// What to do about it; nil if it is good.
  let advice: LocalizationValue?
  /// What was measured, with its unit in the name.
  var figures: [String: Double] = [:]

  static func good(
    subject: LocalizationValue,
    saying text: LocalizationValue,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .good, text: text, advice: nil, figures: figures)
  }

  static func advice(
    subject: LocalizationValue,
    saying text: LocalizationValue,
    advising advice: LocalizationValue,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .advice, text: text, advice: advice, figures: figures)
  }

  static func fault(
    subject: LocalizationValue,
    saying text: LocalizationValue,
    advising advice: LocalizationValue,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .fault, text: text, advice: advice, figures: figures)
  }

  /// A line for people in their language, and one more with what to do.
  var line: String {
    let width = Verdict.allCases.map(\.mark.terminalColumns).max() ?? 0
    let head =
      verdict.mark.padded(toTerminalColumns: width) + "  "
      + String(localized: subject).padded(toTerminalColumns: 15) + "  " + String(localized: text)
    let indent = String(repeating: " ", count: width + 2)
    let more = advice.map { "\n\(indent)-> " + Terminal.plain(String(localized: $0)) }
    return Terminal.plain(head) + (more ?? "")
  }

  /// The same for programs, in one line, in English.
  var json: String {
    let fields: [String: JSONValue] = [
      "subject": .text(subject.english), "verdict": .text(verdict.rawValue),
      "text": .text(text.english), "advice": .text(advice?.english),
      "figures": .object(figures.mapValues { .number($0) }),
    ]
    return JSONValue.object(fields).line ?? ""
  }
}
