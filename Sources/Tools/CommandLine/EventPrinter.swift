import CallSecurity
import Foundation
import Localization
import MediaCore
import RealTime
import SIPSignalling
import SRTP
import SidetonePhone
import VoiceEngine

/// Prints the events of a session, for people or as JSON.
///
/// JSON: one object per line with `event`, `at` (milliseconds of the monotonic clock) and the
/// fields named here; names do not change.
struct EventPrinter {
  let isJSON: Bool
  let terminal: Terminal
  /// True to print the addresses at which calls arrive and the registration of accounts; false for
  /// a caller.
  let announcesAddresses: Bool

  func print(_ event: PhoneEvent) {
    if isJSON { return printJSON(Self.fields(of: event)) }
    let text = Self.text(
      of: event,
      namesKeys: terminal.isInteractive,
      announcesAddresses: announcesAddresses
    )
    guard let text else { return }
    if case .incoming = event { terminal.say(text, isUrgent: true) } else { terminal.say(text) }
  }

  func print(_ statistics: CallStatistics) {
    if isJSON {
      printJSON(Self.fields(of: statistics))
    } else {
      terminal.refresh(Self.line(statistics))
    }
  }

  /// Prints an event of an echo line; some fields are for programs alone.
  func printEcho(
    _ event: String,
    _ fields: [String: JSONValue],
    forPrograms more: [String: JSONValue] = [:]
  ) {
    let fields = isJSON ? fields.merging(more) { own, _ in own } : fields
    if isJSON { return printJSON(fields.merging(["event": .text(event)]) { own, _ in own }) }
    terminal.say("\(event): " + JSONValue.object(fields).plain)
  }

  /// Prints the figures of a call that has ended; nothing as JSON.
  func printSummary(_ statistics: CallStatistics) {
    guard !isJSON else { return }
    terminal.say("  " + Self.line(statistics))
  }

  private func printJSON(_ event: [String: JSONValue]) {
    var fields = event
    // By the monotonic clock, which is the same in all programs of a machine.
    fields["at"] = Self.rounded(Double(MonotonicClock.now().nanoseconds) / 1e6, 3)
    guard let line = JSONValue.object(fields).line else { return }
    Swift.print(line)
    fflush(nil)
  }

  /// Returns the event as JSON, without its time.
  static func fields(of event: PhoneEvent) -> [String: JSONValue] {
    switch event {
    case .registered(let addresses):
      ["event": "registered", "addresses": .list(addresses.map { .text($0) })]
    case .accountRegistered(let account, let server, let seconds):
      [
        "event": "registered", "account": .text(account), "server": .text(server),
        "seconds": .count(seconds),
      ]
    case .accountUnregistered(let account, let reason, let pause):
      [
        "event": "unregistered", "account": .text(account), "reason": .text(reason),
        "retryAfter": pause.map { .count($0) } ?? .null,
      ]
    case .accountStep(let account, let step):
      ["event": "step", "account": .text(account), "step": .text(step)]
    case .incoming(let call, let from):
      ["event": "incoming", "call": "\(call)", "from": .text(from)]
    case .messagesWaiting(let account, let count):
      ["event": "messagesWaiting", "account": .text(account), "count": .number(Double(count))]
    case .calling(let call, let to): ["event": "calling", "call": "\(call)", "to": .text(to)]
    case .ringing(let call): ["event": "ringing", "call": "\(call)"]
    case .connected(let call, let to): ["event": "connected", "call": "\(call)", "with": .text(to)]
    case .secured(let call, let protection):
      fields(of: protection).merging(["event": "secured", "call": "\(call)"]) { own, _ in own }
    case .routed(let call, let route):
      [
        "event": "path", "call": "\(call)", "kind": .text(route.kind.rawValue),
        "remote": .text("\(route.farSide)"),
      ]
    case .verified(let call): ["event": "verified", "call": "\(call)"]
    case .held(let call): ["event": "held", "call": "\(call)"]
    case .resumed(let call): ["event": "resumed", "call": "\(call)"]
    case .heldByFarSide(let call): ["event": "heldByFarSide", "call": "\(call)"]
    case .resumedByFarSide(let call): ["event": "resumedByFarSide", "call": "\(call)"]
    case .renamed(let call, let to): ["event": "renamed", "call": "\(call)", "to": .text(to)]
    case .transferring(let call, let to):
      ["event": "transferring", "call": "\(call)", "to": .text(to)]
    case .transferRequested(let call, let to):
      ["event": "transferRequested", "call": "\(call)", "to": .text(to)]
    case .joined(let call, let other):
      ["event": "joined", "call": "\(call)", "with": "\(other)"]
    case .separated(let call): ["event": "separated", "call": "\(call)"]
    case .recording(let call, let file):
      ["event": "recording", "call": "\(call)", "file": .text(file)]
    case .recordingEnded(let call, let file, let reason):
      [
        "event": "recordingEnded", "call": "\(call)", "file": .text(file),
        "reason": .text(reason),
      ]
    case .pressed(let call, let key): ["event": "key", "call": "\(call)", "key": .text(key)]
    case .ended(let call, let end):
      ["event": "ended", "call": "\(call)", "clean": .flag(end.isClean)]
        .merging(fields(of: end)) { own, _ in own }
    case .audioActivated: ["event": "audioActivated"]
    case .audioDeactivated: ["event": "audioDeactivated"]
    case .routeChanged(let reason, let microphone, let loudspeaker):
      [
        "event": "routeChanged", "reason": .text(reason), "microphone": .text(microphone),
        "loudspeaker": .text(loudspeaker),
      ]
    case .mediaServicesLost: ["event": "mediaServicesLost"]
    case .mediaServicesReset: ["event": "mediaServicesReset"]
    case .error(let text): ["event": "error", "message": .text(text)]
    }
  }

  /// Returns the end of a call as JSON: `reason` for people, `cause` and `code` for programs.
  static func fields(of end: CallEnd) -> [String: JSONValue] {
    let named: [String: JSONValue] = ["reason": .text("\(end)"), "cause": .text(end.cause)]
    return named.merging(end.code.map { ["code": .integer(Int64($0))] } ?? [:]) { own, _ in own }
  }

  private static func fields(of protection: CallProtection) -> [String: JSONValue] {
    switch protection {
    case .open:
      return ["encrypted": .flag(false)]
    case .encrypted(let encryption, let standing):
      return [
        "encrypted": .flag(true),
        "suite": .text(encryption.profile.name),
        "keyExchange": .text(encryption.keyExchange.rawValue),
        "fingerprint": .text(encryption.fingerprint?.description),
        "known": .flag(standing == .known || standing == .verified),
        "verified": .flag(standing == .verified),
        "words": .text(encryption.words?.joined(separator: " ")),
      ]
    }
  }

  /// Returns the figures as JSON, without their time.
  static func fields(of statistics: CallStatistics) -> [String: JSONValue] {
    let stream = statistics.stream
    return [
      "event": "stats",
      "call": "\(statistics.call)",
      "seconds": rounded(statistics.seconds, 2),
      "muted": .flag(statistics.isMuted),
      "encrypted": .flag(statistics.protection != .open),
      "packetsSent": .count(stream.packetsSent),
      "packetMs": milliseconds(ofFrames: Int64(stream.packetFrames)),
      "copies": .count(stream.redundancyDepth),
      "packetsReceived": .count(stream.packetsReceived),
      "packetsLost": .count(stream.packetsLost),
      "packetsLate": .count(stream.packetsLate),
      "jitterMs": milliseconds(stream.jitterNanoseconds),
      "playoutDelayMs": milliseconds(stream.playoutDelayNanoseconds),
      "playoutTargetMs": milliseconds(stream.playoutTargetNanoseconds),
      "roundTripMs": stream.roundTripNanoseconds < 0
        ? .null : milliseconds(stream.roundTripNanoseconds),
      "farLossPercent": rounded(Double(stream.farFractionLost) / 2.56, 1),
      "concealedPercent": rounded(concealedShare(statistics) * 100, 2),
      "concealedMs": milliseconds(ofFrames: stream.concealedFrames),
      "removedMs": milliseconds(ofFrames: stream.removedFrames),
      "addedMs": milliseconds(ofFrames: stream.addedFrames),
      "inputPeakDB": .number(decibels(statistics.engine.inputPeak)),
      "outputPeakDB": .number(decibels(stream.outputPeak)),
      "playbackFillMs": milliseconds(statistics.engine.playbackFillNanoseconds),
      "overruns": .count(statistics.engine.overruns),
      "underruns": .count(statistics.engine.underruns),
      "realTime": .flag(statistics.isRealTime),
    ]
  }

  private static func listening(at addresses: [String]) -> String {
    addresses.isEmpty
      ? String(localized: "There is no network. Calls can arrive once there is one.")
      : String(localized: "Listening at \(addresses.map { "sip:\($0)" }.joined(separator: ", "))")
  }

  /// Returns the event as text, with the keys that apply if the user can press any; nil for events
  /// of which people need no text.
  static func text(
    of event: PhoneEvent,
    namesKeys: Bool,
    announcesAddresses: Bool
  ) -> String? {
    func keys(_ text: String) -> String { namesKeys ? " " + text : "" }
    let none = String(localized: "none")
    return switch event {
    case .registered(let addresses):
      announcesAddresses ? listening(at: addresses) : nil
    case .accountRegistered(let account, let server, _):
      announcesAddresses ? String(localized: "Registered: \(account) at \(server).") : nil
    case .accountUnregistered(let account, let reason, let pause):
      pause.map {
        let reason = String(localizedReason: reason)
        return String(
          localized: "Not registered: \(account): \(reason). It is tried again after \($0) s."
        )
      }
    case .accountStep: nil
    case .incoming(_, let from):
      String(localized: "Incoming call from \(from).")
        + keys(String(localized: "a to answer, e to end the other call and answer, d to decline."))
    case .calling(_, let to):
      String(localized: "Calling \(to) ...") + keys(String(localized: "h to hang up."))
    case .messagesWaiting(let account, let count):
      count == 0
        ? String(localized: "No new message for \(account).")
        : String(localized: "New messages for \(account): \(count).")
    case .ringing: String(localized: "Ringing ...")
    case .connected(_, let to):
      String(localized: "Connected with \(to).")
        + keys(String(localized: "m to mute, o to hold, h to hang up."))
    case .secured(_, let protection): text(of: protection, namesKeys: namesKeys)
    case .routed(_, let route): text(of: route)
    case .verified: String(localized: "Verified: the next calls with this side need no words.")
    case .held: String(localized: "On hold.") + keys(String(localized: "o to resume."))
    case .resumed: String(localized: "Resumed.")
    case .heldByFarSide: String(localized: "The far side holds the call.")
    case .resumedByFarSide: String(localized: "The far side is back.")
    case .renamed(_, let to): String(localized: "Connected with \(to).")
    case .transferring(_, let to): String(localized: "The far side is asked to call \(to).")
    case .transferRequested(_, let to):
      String(localized: "The far side wants you to call \(to).")
        + keys(String(localized: "y to call, n to go on here."))
    case .joined: String(localized: "All calls are in one conference.")
    case .separated: String(localized: "The conference is over.")
    case .recording(_, let file):
      String(localized: "Recording to \(file). The far side hears a tone.")
        + keys(String(localized: "r to stop."))
    case .recordingEnded(_, let file, let reason?):
      String(localized: "The recording has ended, \(reason): \(file).")
    case .recordingEnded(_, let file, nil): String(localized: "Recorded: \(file).")
    case .pressed(_, let key): String(localized: "The far side pressed \(key).")
    case .ended(_, let end):
      String(localized: "Call ended: \(String(localizedReason: "\(end)")).")
    case .audioActivated, .audioDeactivated: nil
    case .routeChanged(_, let microphone, let loudspeaker):
      String(
        localized: "Microphone: \(microphone ?? none). Loudspeaker: \(loudspeaker ?? none)."
      )
    case .mediaServicesLost: String(localized: "The sound server has gone; waiting for it.")
    case .mediaServicesReset: String(localized: "The sound server is back.")
    case .error(let text): "sidetone: \(String(localizedReason: text))"
    }
  }

  private static func text(of route: MediaRoute) -> String {
    switch route.kind {
    case .direct: String(localized: "The voice goes directly to \(route.farSide).")
    case .translated: String(localized: "The voice goes through a router to \(route.farSide).")
    case .relayed: String(localized: "The voice goes by a relay: no other way is open.")
    }
  }

  private static func text(of protection: CallProtection, namesKeys: Bool) -> String {
    guard case .encrypted(let encryption, let standing) = protection else {
      return String(localized: "Not encrypted: everybody on the way can listen.")
    }
    let who =
      switch standing {
      case .verified: String(localized: "Encrypted, with the side that you have verified.")
      case .known: String(localized: "Encrypted, with the same side as before.")
      case .new: String(localized: "Encrypted, with a side that is new to you.")
      case .temporary: String(localized: "Encrypted, with a side that cannot be recognized.")
      }
    guard standing != .verified else { return who }
    guard let words = encryption.words else {
      return standing == .known
        ? who
        : who + String(localized: " It shows no words to compare: somebody may sit between you.")
    }
    let key = namesKeys && standing != .temporary ? String(localized: " (v if they are)") : ""
    return who
      + String(
        localized: " The far side must see the same words: \(words.joined(separator: " "))\(key)."
      )
  }

  // MARK: Figures

  /// Returns the text of the live line.
  static func line(_ statistics: CallStatistics) -> String {
    let stream = statistics.stream
    let time = clock(statistics.seconds)
    let roundTrip =
      stream.roundTripNanoseconds < 0
      ? "-" : String(format: "%.1f", Double(stream.roundTripNanoseconds) / 1e6)
    let expected = max(1, stream.packetsReceived + stream.packetsLost)
    let figures = [
      Double(stream.packetsLost) * 100 / Double(expected),
      Double(stream.jitterNanoseconds) / 1e6,
      Double(stream.playoutDelayNanoseconds) / 1e6,
    ].map { String(format: "%.1f", $0) }
    let isOpen = statistics.protection == .open
    return [
      statistics.isMuted ? String(localized: "muted") : String(localized: "live"),
      isOpen ? String(localized: "NOT ENCRYPTED") : String(localized: "encrypted"),
      time,
      " " + String(localized: "mic \(meter(statistics.engine.inputPeak))"),
      " " + String(localized: "ear \(meter(stream.outputPeak))"),
      " " + String(localized: "loss \(figures[0]) %"),
      " " + String(localized: "jitter \(figures[1]) ms"),
      " " + String(localized: "delay \(figures[2]) ms"),
      " " + String(localized: "rtt \(roundTrip) ms"),
    ].joined(separator: " ")
  }

  /// Returns minutes and seconds as text, with hours if there are any.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(min(max(0, seconds), 1e9))
    let minutes = String(format: "%d:%02d", whole / 60 % 60, whole % 60)
    guard whole >= 3_600 else { return minutes }
    return "\(whole / 3_600):" + String(format: "%02d:%02d", whole / 60 % 60, whole % 60)
  }

  // Eight steps of 6 dB.
  private static func meter(_ peak: Float) -> String {
    let steps = max(0, min(8, Int((decibels(peak) + 48) / 6)))
    return "[" + String(repeating: "#", count: steps) + String(repeating: ".", count: 8 - steps)
      + "]"
  }

  /// Converts a peak of 0 to 1 to dBFS; -100 for silence.
  static func decibels(_ peak: Float) -> Double {
    ((peak < 1e-5 ? -100 : 20 * log10(Double(peak))) * 10).rounded() / 10
  }

  private static func concealedShare(_ statistics: CallStatistics) -> Double {
    let stream = statistics.stream
    let total = stream.decodedFrames + stream.concealedFrames + stream.recoveredFrames
    return total == 0 ? 0 : Double(stream.concealedFrames) / Double(total)
  }

  private static func milliseconds(_ nanoseconds: Int64) -> JSONValue {
    rounded(Double(nanoseconds) / 1e6, 2)
  }

  private static func milliseconds(ofFrames frames: Int64) -> JSONValue {
    rounded(Double(frames) / 48, 1)
  }

  private static func rounded(_ value: Double, _ digits: Int) -> JSONValue {
    let factor = pow(10, Double(digits))
    return .number((value * factor).rounded() / factor)
  }
}
