import BusFixture
import ALSAAudio
@testable import AVFAudio
@testable import DesktopServices
import Foundation
import Testing

/// Interruption notifications of a session.
private final class Interruptions {
  static let began: [String: UInt] = [
    AVAudioSessionInterruptionTypeKey: 1, AVAudioSessionInterruptionReasonKey: 0,
  ]
  static let ended: [String: UInt] = [
    AVAudioSessionInterruptionTypeKey: 0, AVAudioSessionInterruptionOptionKey: 1,
  ]
  let notes: AsyncStream<[String: UInt]>
  private let token: any NSObjectProtocol

  init(of session: AVAudioSession) {
    let (notes, continuation) = AsyncStream<[String: UInt]>.makeStream()
    self.notes = notes
    token = NotificationCenter.default.addObserver(
      forName: AVAudioSession.interruptionNotification,
      object: session,
      queue: nil
    ) { continuation.yield($0.userInfo as? [String: UInt] ?? [:]) }
  }

  deinit { NotificationCenter.default.removeObserver(token) }
}

/// An app and a phone of one desktop, with the app's interruption notifications.
private struct Desktop {
  let daemon: BusDaemon
  let app: AVAudioSession
  let phone: AVAudioSession
  let interruptions: Interruptions

  /// A desktop with a bus of its own; nil if none can be started.
  init?() throws {
    guard let daemon = try BusDaemon() else { return nil }
    self.daemon = daemon
    app = CallArbiterTests.program(on: daemon)
    phone = CallArbiterTests.program(on: daemon)
    interruptions = Interruptions(of: app)
  }
}

/// Programs of one desktop, each with a session of its own, on a real bus.
@Suite(.serialized)
struct CallArbiterTests {
  fileprivate static func program(on daemon: BusDaemon) -> AVAudioSession {
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

  /// A program that holds its call at once when another one asks.
  private static func yieldingProgram(on daemon: BusDaemon) -> (
    session: AVAudioSession, requests: AsyncStream<CallArbiter.Request>
  ) {
    let session = program(on: daemon)
    let (requests, continuation) = AsyncStream<CallArbiter.Request>.makeStream()
    session.whenAsked { [weak session] request in
      // As long as another call lives, which may want them.
      if request == .makeWay { session?.deactivateForCall(keepingDevices: true) {} }
      continuation.yield(request)
    }
    return (session, requests)
  }

  @Test(.timeLimit(.minutes(10)))
  func callMakesWayForAnotherProgramsAndIsResumedAfterIt() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let first = Self.yieldingProgram(on: daemon)
    let second = Self.yieldingProgram(on: daemon)
    var asked = (
      first: first.requests.makeAsyncIterator(), second: second.requests.makeAsyncIterator()
    )
    try await first.session.activateForCall()
    try await second.session.activateForCall()
    #expect(await asked.first.next() == .makeWay)
    #expect(first.session.voiceEngine == nil && second.session.voiceEngine != nil)
    second.session.endCall()
    second.session.giveBack()
    #expect(await asked.first.next() == .resume)
    try await first.session.activateForCall()
    // The second has ended its call, and is not asked.
    first.session.endCall()
    first.session.giveBack()
    try await second.session.activateForCall()
    try await first.session.activateForCall()
    #expect(await asked.second.next() == .makeWay)
    first.session.endCall()
  }

  @Test(.timeLimit(.minutes(10)))
  func devicesThatAreKeptForAnotherCallMakeWayAtOnce() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let first = Self.program(on: daemon)
    let (asked, continuation) = AsyncStream<CallArbiter.Request>.makeStream()
    first.whenAsked { continuation.yield($0) }
    try await first.activateForCall()
    first.deactivateForCall(keepingDevices: true) {}
    let second = Self.program(on: daemon)
    try await second.activateForCall()
    #expect(second.voiceEngine != nil)
    second.endCall()
    withExtendedLifetime(asked) {}
  }

  @Test(.timeLimit(.minutes(10))) func programThatHangsLosesItsCall() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let hung = CallArbiter(address: daemon.address)
    let (asked, continuation) = AsyncStream<CallArbiter.Request>.makeStream()
    let isStuck = DispatchSemaphore(value: 0)
    hung.whenAsked { request in
      isStuck.wait()
      continuation.yield(request)
    }
    #expect(hung.claim())
    let other = CallArbiter(address: daemon.address)
    #expect(other.claim())
    isStuck.signal()
    isStuck.signal()
    withExtendedLifetime(asked) {}
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

  @Test(.timeLimit(.minutes(10)))
  func callInterruptsAnAppThatMayResumeAfterwards() async throws {
    guard let desktop = try Desktop() else { return }
    defer { withExtendedLifetime(desktop) {} }
    let (app, phone) = (desktop.app, desktop.phone)
    var notes = desktop.interruptions.notes.makeAsyncIterator()

    try app.setCategory(.playAndRecord)
    try app.setActive(true)
    try await phone.activateForCall()
    #expect(await notes.next() == Interruptions.began)
    #expect(app.voiceEngine == nil)
    #expect(throws: (any Error).self) { try app.setActive(true) }
    // What only plays may, beside the call.
    try app.setCategory(.playback)
    try app.setActive(true)
    #expect(app.voiceEngine != nil)
    try app.setActive(false)
    try app.setCategory(.playAndRecord)
    phone.endCall()
    #expect(await notes.next() == Interruptions.ended)
    try app.setActive(true)
    #expect(app.voiceEngine != nil)
    try app.setActive(false)
  }

  @Test(arguments: [true, false])
  func callIsClaimedOnARestartedBus(beginsBefore: Bool) throws {
    guard let daemon = try BusDaemon() else { return }
    let arbiter = CallArbiter(address: daemon.address)
    if beginsBefore { #expect(arbiter.claim()) }
    daemon.stop()
    if !beginsBefore { #expect(arbiter.claim()) }
    try daemon.start()
    let other = CallArbiter(address: daemon.address)
    let end = Date(timeIntervalSinceNow: 10)
    while !other.isTaken, Date() < end {}
    #expect(!other.claim())
    arbiter.release()
    #expect(other.claim())
  }

  @Test func callsEndAndBeginWhileTheBusHangs() throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let arbiter = CallArbiter(address: daemon.address)
    #expect(arbiter.claim())
    daemon.freeze()
    arbiter.release()
    #expect(arbiter.claim())
    daemon.thaw()
    // The bus learns of both now.
    let other = CallArbiter(address: daemon.address)
    let end = Date(timeIntervalSinceNow: 10)
    while !other.isTaken, Date() < end {}
    #expect(!other.claim())
    arbiter.release()
    #expect(other.claim())
  }

  @Test(.timeLimit(.minutes(10)))
  func interruptionEndsWhereTheCallEndedWithoutABus() async throws {
    guard let desktop = try Desktop() else { return }
    defer { withExtendedLifetime(desktop) {} }
    let (daemon, app, phone) = (desktop.daemon, desktop.app, desktop.phone)
    var notes = desktop.interruptions.notes.makeAsyncIterator()
    try app.setActive(true)
    try await phone.activateForCall()
    #expect(await notes.next() == Interruptions.began)
    daemon.stop()
    phone.endCall()
    try daemon.start()
    #expect(await notes.next() == Interruptions.ended)
  }

  @Test(.timeLimit(.minutes(10)))
  func callThatBeganWithoutABusInterruptsOnTheNextOne() async throws {
    guard let desktop = try Desktop() else { return }
    defer { withExtendedLifetime(desktop) {} }
    let (daemon, app, phone) = (desktop.daemon, desktop.app, desktop.phone)
    var notes = desktop.interruptions.notes.makeAsyncIterator()
    try app.setActive(true)
    daemon.stop()
    try await phone.activateForCall()
    try daemon.start()
    #expect(await notes.next() == Interruptions.began)
    #expect(app.voiceEngine == nil)
    phone.endCall()
    #expect(await notes.next() == Interruptions.ended)
  }

  @Test(.timeLimit(.minutes(10)))
  func callThatTakesTheAppsDevicesAndFailsInterruptsTheApp() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let app = Self.program(on: daemon)
    let interruptions = Interruptions(of: app)
    defer { withExtendedLifetime(interruptions) {} }
    var notes = interruptions.notes.makeAsyncIterator()
    try app.setActive(true)
    // Another period makes a new engine; for other devices alone the running one would do.
    app.devices = .init(capture: .file("/nowhere/x.wav"), playback: .null)
    try app.setPreferredIOBufferDuration(0.02)
    await #expect(throws: (any Error).self) { try await app.activateForCall() }
    #expect(app.voiceEngine == nil)
    #expect(await notes.next() == Interruptions.began)
    #expect(await notes.next() == Interruptions.ended)
    let other = CallArbiter(address: daemon.address)
    #expect(other.claim())
    other.release()
    app.devices = .init(capture: .null, playback: .null)
    try app.setActive(true)
    #expect(app.voiceEngine != nil)
    try app.setActive(false)
  }

  @Test(.timeLimit(.minutes(10)))
  func activationThatFailsLeavesNothingOfACallBehind() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    var told = music.told.makeAsyncIterator()
    let session = Self.program(on: daemon)
    try await session.activateForCall()
    #expect(await told.next() == "Pause")
    session.deactivateForCall(keepingDevices: true) {}
    session.devices = .init(capture: .file("/nowhere/x.wav"), playback: .null)
    #expect(throws: (any Error).self) { try session.setActive(true) }
    #expect(CallArbiter(address: daemon.address).claim())
    #expect(await told.next() == "Play")
  }

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [
      (AVAudioSession.CategoryOptions(), "Paused", 1.0), (.mixWithOthers, "Playing", 1),
      (.duckOthers, "Playing", 0.25),
    ]
  )
  func R98_playersArePausedLoweredOrLeftAlone(
    options: AVAudioSession.CategoryOptions,
    status: String,
    volume: Double
  ) async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let music = try #require(ScriptedPlayer("music", "Playing", address: daemon.address))
    let session = Self.program(on: daemon)
    try session.setCategory(.playAndRecord, options: options)
    try await session.activateForCall()
    // All that the players were asked for is done then.
    #expect(session.players.quietNames.isEmpty == (options == .mixWithOthers))
    #expect(music.status == status && music.volume == volume)
    session.deactivateForCall(keepingDevices: false) {}
    await session.finishOperations()
    #expect(session.players.quietNames.isEmpty)
    #expect(music.status == "Playing" && music.volume == 1)
  }

  @Test func withoutABusEverybodyMayCall() throws {
    let first = CallArbiter(address: "unix:path=/nonexistent")
    let second = CallArbiter(address: "unix:path=/nonexistent")
    #expect(first.claim() && second.claim() && !first.isTaken)
  }
}
