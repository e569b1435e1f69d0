@testable import CallScreen
import CallState
import MediaTime
import Testing

/// What the desktop shows, by the state of the calls alone.
struct CallNoteTests {
  private var control = CallControl()
  private let provider: ProviderID
  private let first = CallID(high: 0, low: 1)
  private let second = CallID(high: 0, low: 2)
  private let now = Moment(
    instant: MonotonicInstant(nanoseconds: 0),
    date: CallDate(secondsSince1970: 0)
  )

  init() {
    provider = control.addProvider(ProviderSettings())
    control.setHasDelegate(provider, true)
  }

  private var notes: [CallID: CallNote] { CallNote.notes(for: control.presentation) }

  private mutating func incoming(_ id: CallID, _ name: String) throws {
    var update = CallUpdate()
    update.callerName = .set(name)
    try control.reportIncoming(id, update, of: provider, at: now)
  }

  @Test mutating func incomingCallOffersAnswerAndDeclineUntilItIsTaken() throws {
    try incoming(first, "Eve <b>&")
    let note = try #require(notes[first])
    #expect(note.category == "call.incoming" && note.urgency == 2 && note.isLasting)
    #expect(note.body == "Eve &lt;b&gt;&amp;")
    #expect(note.buttons.map(\.label) == ["Answer", "Decline"])
    #expect(note.buttons.first?.deed == .decide(.incoming(first, .answer)))
    control.decide(.incoming(first, .answer), at: now)
    #expect(notes[first]?.summary == "Connecting")
    let answer = try #require(control.pendingActions.first)
    control.answer(answer.id, isFulfilled: true, at: now)
    #expect(notes[first]?.summary == "In call")
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up", "Hold"])
    #expect(notes[first]?.category == "call.ongoing")
  }

  @Test mutating func secondCallOffersWhatIsAllowedAndWaitsForTheScreen() throws {
    try incoming(first, "A")
    try incoming(second, "B")
    #expect(notes.keys.sorted { $0.low < $1.low } == [first])
    control.decide(.incoming(first, .answer), at: now)
    let answer = try #require(control.pendingActions.first)
    control.answer(answer.id, isFulfilled: true, at: now)
    #expect(
      notes[second]?.buttons.map(\.label) == ["Hold & Answer", "End & Answer", "Decline"]
    )
  }

  @Test mutating func missedCallOffersToCallBack() throws {
    var update = CallUpdate()
    update.remoteHandle = .set(CallHandle(kind: .generic, value: "sip:eve@host"))
    try control.reportIncoming(first, update, of: provider, at: now)
    control.reportEnded(first, of: provider, reason: .remoteEnded, at: now)
    var records: [CallRecord] = []
    while let effect = control.nextEffect() {
      if case .recorded(let record) = effect { records.append(record) }
    }
    let note = try #require(records.first.flatMap { CallNote.missed($0) })
    #expect(note.category == "call.unanswered")
    #expect(note.buttons.first?.deed == .callBack(handle: "sip:eve@host"))
    #expect(notes.isEmpty)
  }

  @Test mutating func R53_holdIsOfferedOnlyWhereItIsSupported() throws {
    try incoming(first, "A")
    control.decide(.incoming(first, .answer), at: now)
    let answer = try #require(control.pendingActions.first)
    control.answer(answer.id, isFulfilled: true, at: now)
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    control.update(first, update, of: provider)
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up"])
    try incoming(second, "B")
    #expect(notes[second]?.buttons.map(\.label) == ["End & Answer", "Decline"])
  }
}
