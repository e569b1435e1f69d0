import Foundation
import Localization

/// Finding about one part of this machine that calls depend on.
struct CheckFinding: Equatable {
  enum Verdict: String, CaseIterable {
    /// Calls have what they need.
    case good
    /// Calls work, and could work better.
    case advice
    /// Calls do not work.
    case fault

    /// Word at the beginning of a line, in the user's language.
    var mark: String {
      switch self {
      case .good: String(localized: "good")
      case .advice: String(localized: "note")
      case .fault: String(localized: "FAULT")
      }
    }
  }

  /// Subject of the check, for example "microphone".
  let subject: LocalizationValue
  let verdict: Verdict
  /// Description of the subject's state, for the user.
  let text: LocalizationValue
  /// Advice to the user; nil if the state is good, or if there is none to give.
  let advice: LocalizationValue?
  /// Measured values, by names that end in the unit.
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

  /// Line for people in their language, with one more line for the advice.
  var line: String {
    let width = Verdict.allCases.map(\.mark.terminalColumns).max() ?? 0
    let head =
      verdict.mark.padded(toTerminalColumns: width) + "  "
      + String(localized: subject).padded(toTerminalColumns: 15) + "  " + String(localized: text)
    let indent = String(repeating: " ", count: width + 2)
    let more = advice.map { "\n\(indent)-> " + Terminal.plain(String(localized: $0)) }
    return Terminal.plain(head) + (more ?? "")
  }

  /// The finding for programs: one line of JSON, in English.
  var json: String {
    let fields: [String: JSONValue] = [
      "subject": .text(subject.english), "verdict": .text(verdict.rawValue),
      "text": .text(text.english), "advice": .text(advice?.english),
      "figures": .object(figures.mapValues { .number($0) }),
    ]
    return JSONValue.object(fields).line ?? ""
  }
}
