import CallSecurity
import Foundation
import Localization
import SidetonePhone
import VoiceEngine

/// History of the calls of a session: events, and figures over time.
///
/// A value without I/O. A long call is kept in fewer moments, so that its length costs no memory.
struct CallHistory: Equatable {
  /// The figures at one moment of a call.
  struct Moment: Equatable {
    let call: UUID
    /// Seconds since the session began.
    let second: Double
    let stages: DelayStages
    let statistics: CallStatistics
  }

  /// An event, as a sentence for people.
  struct Note: Equatable {
    /// Seconds since the session began.
    let second: Double
    let text: String
  }

  /// A call of the session.
  struct Call: Equatable {
    let uuid: UUID
    /// Far side, as it is shown to the user.
    var farSide: String
    let isIncoming: Bool
    /// Seconds since the session began; nil until it was connected.
    var connectedAt: Double?
    /// Seconds since the session began; nil until it has ended.
    var endedAt: Double?
    var protection: CallProtection?
    var ending: String?
    /// The newest figures; nil for a call without sound.
    var statistics: CallStatistics?
    /// Counts over the whole call.
    var totals = CallTotals()
  }

  private(set) var calls: [Call] = []
  private(set) var notes: [Note] = []
  private(set) var moments: [Moment] = []
  /// Devices in use, by the names that open them.
  var devices: (microphone: String, loudspeaker: String) = ("", "")
  private var observed = 0
  private var stride = 1

  /// Most moments that are kept, as many as a chart can show; `mostNotes` is as many as a page can.
  private static let mostMoments = 4_000
  private static let mostNotes = 1_000
  /// Most calls that are kept: a phone that answers by itself may have any number of callers.
  private static let mostCalls = 500

  /// Takes in an event, with the sentence for people if there is one.
  mutating func note(_ event: PhoneEvent, saying text: String?, at second: Double) {
    if let text { append(Note(second: second, text: text)) }
    switch event {
    case .incoming(let call, let from):
      append(Call(uuid: call, farSide: from, isIncoming: true))
    case .calling(let call, let to):
      append(Call(uuid: call, farSide: to, isIncoming: false))
    case .connected(let call, let to):
      change(call) {
        $0.farSide = to
        $0.connectedAt = second
      }
    case .renamed(let call, let to):
      change(call) { $0.farSide = to }
    case .secured(let call, let protection):
      change(call) { $0.protection = protection }
    case .ended(let call, let end):
      change(call) {
        $0.endedAt = second
        $0.ending = "\(end)"
      }
    case .routeChanged(_, let microphone, let loudspeaker):
      let none = String(localized: "none")
      devices = (microphone ?? none, loudspeaker ?? none)
    default:
      break
    }
  }

  /// Takes in the figures of the active call.
  mutating func note(_ statistics: CallStatistics, at second: Double) {
    change(statistics.call) {
      $0.statistics = statistics
      $0.totals.note(statistics)
    }
    defer { observed += 1 }
    guard observed % stride == 0 else { return }
    moments.append(
      Moment(
        call: statistics.call,
        second: second,
        stages: DelayStages(statistics),
        statistics: statistics
      )
    )
    guard moments.count == Self.mostMoments else { return }
    moments = moments.indices.filter { $0 % 2 == 0 }.map { moments[$0] }
    stride *= 2
  }

  private mutating func append(_ note: Note) {
    if notes.count == Self.mostNotes { notes.removeFirst(Self.mostNotes / 10) }
    notes.append(note)
  }

  private mutating func append(_ call: Call) {
    if calls.count == Self.mostCalls { calls.removeFirst(Self.mostCalls / 10) }
    calls.append(call)
  }

  private mutating func change(_ uuid: UUID, _ body: (inout Call) -> Void) {
    guard let index = calls.lastIndex(where: { $0.uuid == uuid }) else { return }
    body(&calls[index])
  }

  static func == (one: CallHistory, other: CallHistory) -> Bool {
    one.calls == other.calls && one.notes == other.notes && one.moments == other.moments
      && one.devices == other.devices
  }
}

extension CallHistory.Moment {
  private var counts: CallTotals.Counts { CallTotals.Counts(statistics.stream) }

  /// Returns the share of packets, in per cent, that were lost since an earlier moment of the call.
  func lossPercent(since earlier: Self) -> Double {
    let before = earlier.counts.isContinued(by: counts) ? earlier.statistics.stream : nil
    let lost = statistics.stream.packetsLost - (before?.packetsLost ?? 0)
    let received = statistics.stream.packetsReceived - (before?.packetsReceived ?? 0)
    return 100 * Double(max(0, lost)) / Double(max(1, lost + received))
  }

  /// Returns the share of the sound, in per cent, that was concealed since an earlier moment of the
  /// call.
  func concealedPercent(since earlier: Self) -> Double {
    let isContinued = earlier.counts.isContinued(by: counts)
    let before = isContinued ? earlier.statistics.stream.concealedFrames : 0
    let frames = statistics.stream.concealedFrames - before
    let seconds = max(0.01, second - earlier.second)
    return min(100, 100 * Double(max(0, frames)) / 48_000 / seconds)
  }
}
