import ALSAAudio
import ArgumentParser
import AVFoundation
import CallKit
import Foundation
import SIPSignalling
import SidetonePhone
import UDPTransport
import VoiceEngine

/// The app's start: its calls, its call screen (a terminal), and SIP and the voice engine behind
/// them.
@main
struct MonkeyCallMain: ParsableCommand {
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

  @Option(help: "Hang up so many seconds after the call stands.")
  var duration: Double?

  func run() throws {
    AVAudioSession.announceCalls()
    let app = App(self)
    app.start()
    dispatchMain()
  }
}

/// Joins the app's parts; everything in it runs on the main queue.
// SAFETY: only the main queue touches it.
private final class App: @unchecked Sendable {
  private let options: MonkeyCallMain
  private let activeCalls = ActiveCalls()
  private let line: SIPLine
  private let providerDelegate: ProviderDelegate
  private var hadCalls = false
  private var callsObserver: (any NSObjectProtocol)?
  private var interrupts: (any DispatchSourceSignal)?

  init(_ options: MonkeyCallMain) {
    self.options = options
    line = SIPLine(host: options.host, port: options.port)
    providerDelegate = ProviderDelegate(activeCalls: activeCalls, line: line)
    AVAudioSession.sharedInstance().devices = .init(
      capture: DeviceName(options.capture),
      playback: DeviceName(options.playback)
    )
  }

  func start() {
    callsObserver = NotificationCenter.default.addObserver(
      forName: ActiveCalls.callsChangedNotification,
      object: activeCalls,
      queue: nil
    ) { [self] _ in showCalls() }
    line.incoming = { [self] call in
      nonisolated(unsafe) let call = call
      unsafe providerDelegate.reportIncomingCall(call) { [self] isShown in
        DispatchQueue.main.async { [self] in
          let call = unsafe call
          guard isShown else { return line.hangUp(call) }
          activeCalls.add(call)
          if options.answer { activeCalls.answer(call: call) }
        }
      }
    }
    line.ringing = { [self] in providerDelegate.reportStartedConnecting($0) }
    line.connected = { [self] call in
      providerDelegate.reportConnected(call)
      nonisolated(unsafe) let call = call
      guard let duration = options.duration else { return }
      DispatchQueue.main.asyncAfter(deadline: .now() + duration) { [self] in
        if unsafe !call.hasEnded { unsafe activeCalls.end(call: call) }
      }
    }
    line.ended = { [self] call in
      providerDelegate.reportEnded(call, reason: call.hasConnected ? .remoteEnded : .unanswered)
    }
    line.open { [self] addresses in
      print("MonkeyCall is at \(addresses.joined(separator: ", ")).")
      fflush(nil)
      guard let link = options.link else { return }
      let request = URL(string: link).flatMap { StartCallRequest(url: $0) }
      activeCalls.startCall(handle: request?.handle ?? link)
    }
    interrupt()
    FileHandle.standardInput.readabilityHandler = { [self] handle in
      let data = handle.availableData
      if data.isEmpty { handle.readabilityHandler = nil }
      let keys = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
      DispatchQueue.main.async { [self] in for key in keys { press(key) } }
    }
  }

  // Control-C hangs up first.
  private func interrupt() {
    signal(SIGINT, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .main)
    source.setEventHandler { [self] in
      guard !activeCalls.calls.isEmpty else { return line.close { Foundation.exit(0) } }
      for call in activeCalls.calls { activeCalls.end(call: call) }
    }
    source.resume()
    interrupts = source
  }

  private func press(_ key: String) {
    guard let call = activeCalls.calls.last else { return }
    switch key {
    case "a": activeCalls.answer(call: call)
    case "o": activeCalls.setHeld(call: call, onHold: !call.isOnHold)
    case "m": activeCalls.setMuted(call: call, muted: !call.isMuted)
    case "h": activeCalls.end(call: call)
    default: break
    }
  }

  private func showCalls() {
    for call in activeCalls.calls {
      let state = call.isOnHold ? "held" : call.hasConnected ? "connected" : "connecting"
      print("\(call.isOutgoing ? "to" : "from") \(call.handle): \(state)")
    }
    if activeCalls.calls.isEmpty, hadCalls {
      print("No calls.")
      fflush(nil)
      line.close { Foundation.exit(0) }
    }
    hadCalls = hadCalls || !activeCalls.calls.isEmpty
    fflush(nil)
  }
}

/// Calls over SIP, their voice through the session's engine; everything runs on the main queue.
// SAFETY: only the main queue touches it; what other threads bring is sent there first.
private final class SIPLine: CallLine, @unchecked Sendable {
  var incoming: ((ActiveCall) -> Void)?
  var ringing: ((ActiveCall) -> Void)?
  var connected: ((ActiveCall) -> Void)?
  var ended: ((ActiveCall) -> Void)?

  private final class Leg {
    let call: ActiveCall
    var sip: SIPCallID?
    var socket: MediaSocket?
    var media: NegotiatedMedia?
    /// What the stream was made for; a re-INVITE may change it.
    var streamMedia: NegotiatedMedia?
    var stream: StreamID?
    var hasAudio = false

    init(_ call: ActiveCall) { self.call = call }
  }

  private let host: String
  private let agent: UserAgent
  private var legs: [Leg] = []

  init(host: String, port: UInt16) {
    self.host = host
    agent = UserAgent(.init(hosts: [host], port: port, user: "monkey"))
  }

  func open(_ ready: @escaping @Sendable ([String]) -> Void) {
    Task { [agent] in
      do {
        let addresses = try await agent.start()
        DispatchQueue.main.async { ready(addresses) }
      } catch {
        print("MonkeyCall cannot be reached: \(error)")
        Foundation.exit(1)
      }
      for await event in agent.events { DispatchQueue.main.async { [self] in handle(event) } }
    }
  }

  /// Waits until the far sides have been told.
  func close(_ done: @escaping @Sendable () -> Void) {
    Task { [agent] in
      await agent.stop()
      done()
    }
  }

  private func leg(of call: ActiveCall) -> Leg? { legs.first { $0.call === call } }

  private func handle(_ event: SIPEvent) {
    switch event {
    case .incoming(let id, let from, _, _):
      let call = ActiveCall(uuid: UUID(), isOutgoing: false, handle: from, line: self)
      let leg = Leg(call)
      leg.sip = id
      legs.append(leg)
      incoming?(call)
    case .ringing(let id):
      if let leg = legs.first(where: { $0.sip == id }) { ringing?(leg.call) }
    case .media(let id, let media):
      guard let leg = legs.first(where: { $0.sip == id }) else { return }
      leg.media = media
      attach(leg)
    case .listening, .renegotiationFailed:
      break
    case .established(let id):
      if let leg = legs.first(where: { $0.sip == id }) { connected?(leg.call) }
    case .ended(let id, _):
      guard let leg = legs.first(where: { $0.sip == id }) else { return }
      detach(leg)
      legs.removeAll { $0 === leg }
      ended?(leg.call)
    }
  }

  // MARK: CallLine

  func dial(_ call: ActiveCall, completion: @escaping (Bool) -> Void) {
    let leg = Leg(call)
    guard let offer = offer(for: leg) else { return completion(false) }
    legs.append(leg)
    let uri = "sip:\(call.handle)"
    run(for: leg, completion) { [agent] in try await agent.invite(uri, offer: offer) }
  }

  func accept(_ call: ActiveCall, completion: @escaping (Bool) -> Void) {
    guard let leg = leg(of: call), let id = leg.sip, let offer = offer(for: leg) else {
      return completion(false)
    }
    run(for: leg, completion) { [agent] in await agent.answer(id, offer: offer) ? id : nil }
  }

  // Asks the agent, then answers on the main queue.
  private func run(
    for leg: Leg,
    _ completion: @escaping (Bool) -> Void,
    _ ask: @escaping @Sendable () async throws -> SIPCallID?
  ) {
    nonisolated(unsafe) let answer = (leg, completion)
    Task {
      let id = try? await ask()
      DispatchQueue.main.async {
        // An invitation's number; an accepted one keeps its own.
        if let id { unsafe answer.0.sip = id }
        unsafe answer.1(id != nil)
      }
    }
  }

  func hangUp(_ call: ActiveCall) {
    guard let leg = leg(of: call) else { return }
    detach(leg)
    legs.removeAll { $0 === leg }
    if let id = leg.sip { Task { [agent] in await agent.hangUp(id) } }
  }

  func setHeld(_ call: ActiveCall, _ isOnHold: Bool) {
    guard let leg = leg(of: call), let id = leg.sip else { return }
    leg.media = nil
    Task { [agent] in await agent.setHeld(id, isOnHold) }
  }

  func setMuted(_ call: ActiveCall, _ isMuted: Bool) {
    guard let stream = leg(of: call)?.stream else { return }
    AVAudioSession.sharedInstance().voiceEngine?.setMuted(stream, isMuted ? .muted : .unmuted)
  }

  func startAudio(for call: ActiveCall) {
    guard let leg = leg(of: call) else { return }
    leg.hasAudio = true
    attach(leg)
  }

  func stopAudio(for call: ActiveCall) {
    guard let leg = leg(of: call) else { return }
    leg.hasAudio = false
    detach(leg)
  }

  // MARK: Media

  private func offer(for leg: Leg) -> MediaOffer? {
    guard let address = SocketAddress(host: host, port: 0) else { return nil }
    leg.socket = try? MediaSocket(bindingTo: address)
    guard let port = leg.socket?.localPort else { return nil }
    return MediaOffer(host: host, port: port, packetMilliseconds: 10)
  }

  // The voice starts when both are there: the agreement of the sides and the active session.
  private func attach(_ leg: Leg) {
    guard leg.hasAudio, let media = leg.media, media != leg.streamMedia else { return }
    detach(leg)
    leg.streamMedia = media
    guard media.maySend,
      let engine = AVAudioSession.sharedInstance().voiceEngine,
      let remote = SocketAddress(host: media.host, port: media.port),
      let control = SocketAddress(host: media.controlHost, port: media.controlPort),
      var socket = try? leg.socket?.duplicate()
    else { return }
    socket.connect(to: remote, control: control)
    let configuration = PhoneConfiguration().stream(for: media)
    leg.stream = try? engine.attach(
      configuration,
      over: socket,
      leg.call.isMuted ? .muted : .unmuted
    )
  }

  private func detach(_ leg: Leg) {
    if let stream = leg.stream { AVAudioSession.sharedInstance().voiceEngine?.detach(stream) }
    leg.stream = nil
    leg.streamMedia = nil
  }
}
