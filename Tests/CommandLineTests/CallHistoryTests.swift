import CallSecurity
import Foundation
import SidetonePhone
import Testing

@testable import CommandLine
@testable import VoiceEngine
@testable import VoiceStream

struct CallHistoryTests {
  private let alice = UUID()
  private let bob = UUID()

  private func figures(
    of call: UUID,
    second: Int,
    lost: Int64 = 0,
    concealedFrames: Int64 = 0
  ) -> CallStatistics {
    CallStatistics.example(of: call, seconds: Double(second)) { stream, _ in
      stream.packetsReceived = Int64(second) * 100 - lost
      stream.packetsSent = Int64(second) * 100
      stream.packetsLost = lost
      stream.concealedFrames = concealedFrames
    }
  }

  @Test func aCallIsFollowedFromItsBeginningToItsEnd() throws {
    var history = CallHistory()
    history.note(.incoming(alice, from: "sip:alice@h"), saying: "Alice calls.", at: 1)
    history.note(.connected(alice, to: "sip:a@h;x"), saying: nil, at: 3)
    history.note(.secured(alice, .open), saying: "Not encrypted.", at: 4)
    history.note(.calling(bob, to: "sip:bob@h"), saying: nil, at: 5)
    history.note(.ended(alice, .hungUp), saying: "Ended.", at: 9)
    let (first, second) = (try #require(history.calls.first), try #require(history.calls.last))
    #expect(first.uuid == alice && first.isIncoming && first.farSide == "sip:a@h;x")
    #expect(first.connectedAt == 3 && first.endedAt == 9 && first.ending == "hung up")
    #expect(first.protection == .open && first.statistics == nil)
    #expect(second.uuid == bob && !second.isIncoming && second.connectedAt == nil)
    #expect(
      history.notes == [
        .init(second: 1, text: "Alice calls."), .init(second: 4, text: "Not encrypted."),
        .init(second: 9, text: "Ended."),
      ]
    )
  }

  @Test func eventsOfCallsThatAreNotKnownChangeNothing() {
    var history = CallHistory()
    history.note(.connected(alice, to: "x"), saying: nil, at: 1)
    history.note(.ended(alice, .failed("y")), saying: nil, at: 2)
    history.note(figures(of: alice, second: 1), at: 3)
    #expect(history.calls.isEmpty && history.notes.isEmpty)
  }

  @Test func theDevicesAreTheLastThatWereUsed() {
    var history = CallHistory()
    let none = history.devices
    #expect(none == ("", ""))
    history.note(
      .routeChanged(reason: "x", microphone: "hw:1", loudspeaker: nil),
      saying: nil,
      at: 1
    )
    let devices = history.devices
    #expect(devices == ("hw:1", "none"))
  }

  @Test func aLongSessionIsKeptInFewMoments() throws {
    var history = CallHistory()
    history.note(.calling(alice, to: "sip:alice@h"), saying: nil, at: 0)
    for second in 0..<20_000 {
      history.note(figures(of: alice, second: second), at: Double(second))
    }
    #expect((2_000...4_000).contains(history.moments.count))
    // Evenly over the whole of it.
    let seconds = history.moments.map(\.second)
    let steps = Set(zip(seconds, seconds.dropFirst()).map { $1 - $0 })
    let last = try #require(seconds.last)
    #expect(steps.count == 1 && seconds.first == 0 && last > 19_900)
    #expect(history.calls.first?.statistics?.seconds == 19_999, "the newest figures are there")
  }

  @Test func manyNotesAndCallsTakeNoMemory() {
    var history = CallHistory()
    for number in 0..<3_000 {
      history.note(.incoming(UUID(), from: "\(number)"), saying: "\(number)", at: Double(number))
    }
    #expect(history.notes.count <= 1_000 && history.calls.count <= 500)
    #expect(history.notes.last?.text == "2999" && history.calls.last?.farSide == "2999")
  }

  @Test func historiesAreEqualByWhatTheyTell() {
    var (one, other) = (CallHistory(), CallHistory())
    one.note(.incoming(alice, from: "x"), saying: nil, at: 1)
    #expect(one != other)
    other.note(.incoming(alice, from: "x"), saying: nil, at: 1)
    #expect(one == other)
    one.devices = ("a", "b")
    #expect(one != other)
  }

  // MARK: Between two moments

  private func moments(_ figures: CallStatistics...) -> [CallHistory.Moment] {
    var history = CallHistory()
    for figures in figures { history.note(figures, at: figures.seconds) }
    return history.moments
  }

  @Test func lossIsThatOfTheTimeBetween() {
    let all = moments(
      figures(of: alice, second: 10, lost: 500),
      figures(of: alice, second: 20, lost: 600)
    )
    // A hundred of a thousand.
    #expect(abs(all[1].lossPercent(since: all[0]) - 10) < 1e-9)
  }

  @Test func concealmentIsAShareOfTheTimeBetween() {
    let all = moments(
      figures(of: alice, second: 10, concealedFrames: 48_000),
      figures(of: alice, second: 12, concealedFrames: 72_000)
    )
    #expect(abs(all[1].concealedPercent(since: all[0]) - 25) < 1e-9)
  }

  /// A hold begins the stream anew, which counts from zero.
  @Test func aStreamThatBeganAnewIsCountedFromItsBeginning() {
    let all = moments(
      figures(of: alice, second: 100, lost: 500, concealedFrames: 480_000),
      figures(of: alice, second: 110, lost: 0),
      figures(of: alice, second: 1, lost: 5, concealedFrames: 480)
    )
    #expect(abs(all[2].lossPercent(since: all[1]) - 5) < 1e-9)
    #expect(all[2].concealedPercent(since: all[1]) <= 100)
  }

  @Test func nothingReceivedIsNoLoss() {
    let silent = CallStatistics.example(of: alice, seconds: 1)
    let all = moments(silent, silent)
    #expect(all[1].lossPercent(since: all[0]) == 0)
  }
}
