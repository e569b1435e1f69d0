import BusFixture
import ALSAAudio
@testable import AVFAudio
import DesktopServices
import Foundation
import Testing

/// Programs of one desktop, each with a session of its own, on a real bus.
@Suite(.serialized)
struct CallArbiterTests {
  private static func program(on daemon: BusDaemon) -> AVAudioSession {
    let session = AVAudioSession(bus: daemon.address, arbitratesAll: true)
    session.devices = .init(capture: .null, playback: .null)
    return session
  }

  @Test func oneProgramHasTheActiveCall() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let first = Self.program(on: daemon)
    let second = Self.program(on: daemon)
    try await first.activateForCall()
    await #expect(throws: (any Error).self) { try await second.activateForCall() }
    #expect(second.voiceEngine == nil)
    first.endCall()
    try await second.activateForCall()
    await #expect(throws: (any Error).self) { try await first.activateForCall() }
    second.endCall()
  }

  @Test func crashGivesTheCallUp() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    var crashed: CallArbiter? = CallArbiter(address: daemon.address)
    let other = CallArbiter(address: daemon.address)
    #expect(crashed?.claim() == true)
    #expect(!other.claim() && other.isTaken)
    crashed = nil
    // The bus notices when the connection closes, a moment later.
    let end = Date(timeIntervalSinceNow: 10)
    while other.isTaken, Date() < end {}
    #expect(other.claim())
  }

  @Test(.timeLimit(.minutes(1)))
  func callInterruptsAnAppThatMayResumeAfterwards() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let app = Self.program(on: daemon)
    let phone = Self.program(on: daemon)
    let (stream, continuation) = AsyncStream<[String: UInt]>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: AVAudioSession.interruptionNotification,
      object: app,
      queue: nil
    ) { continuation.yield($0.userInfo as? [String: UInt] ?? [:]) }
    defer { NotificationCenter.default.removeObserver(token) }
    var notes = stream.makeAsyncIterator()

    try app.setCategory(.playAndRecord)
    try app.setActive(true)
    try await phone.activateForCall()
    let began = await notes.next()
    #expect(began == [AVAudioSessionInterruptionTypeKey: 1])
    #expect(app.voiceEngine == nil)
    #expect(throws: (any Error).self) { try app.setActive(true) }
    phone.endCall()
    let ended = await notes.next()
    let expected: [String: UInt] = [
      AVAudioSessionInterruptionTypeKey: 0, AVAudioSessionInterruptionOptionKey: 1,
    ]
    #expect(ended == expected)
    try app.setActive(true)
    #expect(app.voiceEngine != nil)
    try app.setActive(false)
  }

  @Test func withoutABusEverybodyMayCall() throws {
    let first = CallArbiter(address: "unix:path=/nonexistent")
    let second = CallArbiter(address: "unix:path=/nonexistent")
    #expect(first.claim() && second.claim() && !first.isTaken)
  }
}
