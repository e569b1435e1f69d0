@testable import CallScreen
import CallState
import Testing

/// Desktop notifications, which follow from the state of the calls alone.
struct CallNotificationTests {
  private var calls = RingingCalls()
  private let first = CallID(high: 0, low: 1)
  private let second = CallID(high: 0, low: 2)

  private var notes: [CallID: CallNotification] {
    CallNotification.notes(for: calls.control.presentation)
  }

  @Test mutating func incomingCallOffersAnswerAndDeclineUntilItIsTaken() throws {
    try calls.ring(first, name: "Eve <b>&")
    let note = try #require(notes[first])
    #expect(note.category == "call.incoming" && note.urgency == 2 && note.isLasting)
    #expect(note.body == "Eve <b>&")
    #expect(note.buttons.map(\.label) == ["Answer", "Decline"])
    #expect(note.buttons.first?.deed == .decide(.incoming(first, .answer)))
    calls.control.decide(.incoming(first, .answer), at: calls.now)
    #expect(notes[first]?.summary == "Connecting")
    calls.fulfil()
    #expect(notes[first]?.summary == "In call")
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up", "Hold"])
    #expect(notes[first]?.category == "call.ongoing")
  }

  @Test mutating func whetherACallIsEncryptedShowsWhereTheCallerCannotWriteIt() throws {
    try calls.ring(first, name: "Eve, encrypted and verified")
    calls.control.setRemark("not encrypted", of: first)
    #expect(notes[first]?.summary == "Incoming call, not encrypted")
    calls.control.decide(.incoming(first, .answer), at: calls.now)
    calls.fulfil()
    calls.control.setRemark("encrypted", of: first)
    #expect(notes[first]?.summary == "In call, encrypted")
  }

  @Test mutating func secondCallOffersWhatIsAllowedAndWaitsForTheScreen() throws {
    try calls.ring(first, name: "A")
    try calls.ring(second, name: "B")
    #expect(notes.keys.sorted { $0.low < $1.low } == [first])
    calls.control.decide(.incoming(first, .answer), at: calls.now)
    calls.fulfil()
    #expect(
      notes[second]?.buttons.map(\.label) == ["Hold & Answer", "End & Answer", "Decline"]
    )
  }

  @Test mutating func missedCallOffersToCallBack() throws {
    try calls.ring(first, handle: "sip:eve@host")
    let records = calls.hangUp(first)
    let record = try #require(records.first)
    let actions = CallNotification.NotificationActions(decide: { _ in }, callBack: { _ in })
    let note = try #require(CallNotification.missed(record, with: actions))
    #expect(note.category == "call.unanswered")
    let silent = CallNotification.NotificationActions(
      decide: { _ in },
      callBack: { _ in },
      offersCallBack: { false }
    )
    #expect(CallNotification.missed(record, with: silent)?.buttons == [])
    #expect(note.buttons.first?.deed == .callBack(record.details))
    #expect(notes.isEmpty)
  }

  @Test mutating func R53_holdIsOfferedOnlyWhereItIsSupported() throws {
    try calls.ring(first, name: "A")
    calls.control.decide(.incoming(first, .answer), at: calls.now)
    calls.fulfil()
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    calls.control.update(first, update, of: calls.provider)
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up"])
    try calls.ring(second, name: "B")
    #expect(notes[second]?.buttons.map(\.label) == ["End & Answer", "Decline"])
  }

  @Test mutating func R53_resumeIsOfferedOnlyIfTheOtherCallCanBeHeld() throws {
    try calls.ring(first, name: "A")
    calls.control.decide(.incoming(first, .answer), at: calls.now)
    calls.fulfil()
    try calls.ring(second, name: "B")
    calls.control.decide(.incoming(second, .holdAndAnswer), at: calls.now)
    calls.fulfil()
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up", "Resume"])
    var update = CallUpdate()
    update.supportsHolding = .set(false)
    calls.control.update(second, update, of: calls.provider)
    #expect(notes[first]?.buttons.map(\.label) == ["Hang Up"])
  }
}
