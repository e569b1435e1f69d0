import ALSAAudio
import AVFoundation
import CallKit
import ArgumentParser
import Foundation

/// The app on a terminal: where iOS has windows and buttons, it prints lines and reads keys.
@main
struct MonkeyCallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "MonkeyCall",
    abstract: "The example of CallKit's documentation: calls between two machines.",
    discussion: "Keys, each followed by Return: a answers, o holds or resumes, m mutes, h hangs up."
  )

  @Argument(
    help: "Whom to call, for example monkeycall://bob@192.168.1.20 or bob@192.168.1.20:5062."
  )
  var link: String?

  @Option(help: "The address to be reached at.")
  var host = "127.0.0.1"

  @Option(help: "The SIP port; 0 for any.")
  var port: UInt16 = 0

  @Option(help: "The microphone: an ALSA name, file:PATH.wav or null.")
  var capture = "default"

  @Option(help: "The loudspeaker: an ALSA name, file:PATH.wav or null.")
  var playback = "default"

  @Flag(help: "Answer at once.")
  var answer = false

  @Flag(help: "Go on after the last call, until Control-C.")
  var stay = false

  @Option(help: "Hang up so many seconds after the call is connected.")
  var duration: Double?

  @MainActor
  func run() async throws {
    AVAudioSession.announceCalls()
    AVAudioSession.sharedInstance().devices = .init(
      capture: DeviceName(capture),
      playback: DeviceName(playback)
    )
    let app = AppDelegate(network: CallNetwork(host: host, port: port))
    let screen = CallScreen(
      app.callManager,
      answersAtOnce: answer,
      stays: stay,
      duration: duration
    )
    DesktopRequests.receive(open: { _ = app.openURL($0) }) { _ = app.continueUserActivity($0) }
    let addresses = try await app.finishedLaunching()
    print("MonkeyCall is at \(addresses.joined(separator: ", ")).")
    fflush(nil)
    if let link, !(URL(string: link).map(app.openURL) ?? false) {
      app.callManager.startCall(link)
    }
    await screen.runUntilDone()
    await app.willTerminate()
  }
}

/// The terminal: shows the calls and takes the user's keys.
@MainActor
private final class CallScreen {
  private let callManager: ActiveCallManager
  private let answersAtOnce: Bool
  private let stays: Bool
  private let duration: Double?
  private var hadCalls = false
  private var timed: Set<UUID> = []
  private var answered: Set<UUID> = []
  private var interrupts: (any DispatchSourceSignal)?
  private let (done, finish) = AsyncStream<Void>.makeStream()

  init(_ callManager: ActiveCallManager, answersAtOnce: Bool, stays: Bool, duration: Double?) {
    self.callManager = callManager
    self.answersAtOnce = answersAtOnce
    self.stays = stays
    self.duration = duration
    callManager.callsChanged = { [unowned self] in show() }
  }

  /// Returns when the last call has ended, or at Control-C without a call.
  func runUntilDone() async {
    signal(SIGINT, SIG_IGN)
    let interrupts = DispatchSource.makeSignalSource(signal: SIGINT)
    interrupts.setEventHandler { [self] in Task { @MainActor in interrupt() } }
    interrupts.resume()
    self.interrupts = interrupts
    FileHandle.standardInput.readabilityHandler = { [self] handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      let keys = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      Task { @MainActor in for key in keys { press(key) } }
    }
    for await _ in done { return }
  }

  private func interrupt() {
    if callManager.calls.isEmpty { finish.yield() }
    for call in callManager.calls { callManager.endCall(call) }
  }

  private func press(_ key: String) {
    guard let call = callManager.calls.last else { return }
    switch key {
    case "a": callManager.answerCall(call)
    case "o" where call.isOnHold: callManager.removeCallFromOnHold(call)
    case "o": callManager.placeCallOnHold(call)
    case "m": callManager.setMuted(call, !call.isMuted)
    case "h": callManager.endCall(call)
    default: break
    }
  }

  private func show() {
    for call in callManager.calls {
      let state = call.isOnHold ? "held" : call.isConnected ? "connected" : "connecting"
      let microphone = call.isMuted ? ", muted" : ""
      print("\(call.isOutgoing ? "to" : "from") \(call.handle): \(state)\(microphone)")
      follow(call)
    }
    if callManager.calls.isEmpty, hadCalls {
      print("No calls.")
      if !stays { finish.yield() }
    }
    hadCalls = hadCalls || !callManager.calls.isEmpty
    fflush(nil)
  }

  private func follow(_ call: ActiveCall) {
    if answersAtOnce, !call.isOutgoing, answered.insert(call.uuid).inserted {
      callManager.answerCall(call)
    }
    guard call.isConnected, let duration, timed.insert(call.uuid).inserted else { return }
    Task {
      try? await Task.sleep(for: .seconds(duration))
      if !call.hasEnded { callManager.endCall(call) }
    }
  }
}
