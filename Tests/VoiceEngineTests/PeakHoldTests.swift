import Testing

@testable import VoiceEngine

struct PeakHoldTests {
  @Test func peakIsHeldUntilItWasRead() {
    var peak = PeakHold()
    peak.note(0.5)
    let first = peak.take(isRead: true)
    peak.note(0.2)
    let unread = peak.take(isRead: false)
    peak.note(0.1)
    let read = peak.take(isRead: true)
    #expect(first == 0.5)
    #expect(unread == 0.5)
    #expect(read == 0.1)
  }
}
