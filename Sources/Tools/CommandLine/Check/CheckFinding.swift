import Foundation

/// One thing that calls need, and how it is on this machine.
struct CheckFinding: Equatable {
  enum Verdict: String {
    /// Calls have what they need.
    case good
    /// Calls work, and could work better.
    case advice
    /// Calls do not work.
    case fault
  }

  /// What was looked at, for example "microphone".
  let subject: String
  let verdict: Verdict
  /// How it is.
  let text: String
  /// What to do about it; nil if it is good.
  let advice: String?
  /// What was measured, with its unit in the name.
  var figures: [String: Double] = [:]

  static func good(
    _ subject: String,
    _ text: String,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .good, text: text, advice: nil, figures: figures)
  }

  static func advice(
    _ subject: String,
    _ text: String,
    _ advice: String,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .advice, text: text, advice: advice, figures: figures)
  }

  static func fault(
    _ subject: String,
    _ text: String,
    _ advice: String,
    _ figures: [String: Double] = [:]
  ) -> CheckFinding {
    CheckFinding(subject: subject, verdict: .fault, text: text, advice: advice, figures: figures)
  }

  /// A line for people, and one more with what to do.
  var line: String {
    let mark =
      switch verdict {
      case .good: "good "
      case .advice: "note "
      case .fault: "FAULT"
      }
    let head = "\(mark)  \(subject.padding(toLength: 15, withPad: " ", startingAt: 0))  \(text)"
    return Terminal.plain(head) + (advice.map { "\n       -> " + Terminal.plain($0) } ?? "")
  }

  /// The same for programs, in one line.
  var json: String {
    let fields: [String: JSONValue] = [
      "subject": .text(subject), "verdict": .text(verdict.rawValue), "text": .text(text),
      "advice": .text(advice), "figures": .object(figures.mapValues { .number($0) }),
    ]
    return JSONValue.object(fields).line ?? ""
  }
}
