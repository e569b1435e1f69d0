import AVFoundation
import Foundation
import SIPSignalling
import SidetonePhone
import VoiceEngine

/// Network by which calls reach the app and leave it: the app's communication framework, in the
/// words of the documentation page.
///
/// Here it is SIP, with the voice over RTP through the audio session's engine.
@MainActor
final class CallNetwork {
  /// Called with the connection and the caller of each call that arrives.
  var incomingCall: ((CallConnection, String) -> Void)?

  private let host: String
  private let agent: UserAgent
  private var connections: [CallConnection] = []
  private var listener: Task<Void, Never>?

  init(host: String, port: UInt16) {
    self.host = host
    agent = UserAgent(.init(hosts: [host], port: port, user: "monkey"))
  }

  func open() async throws -> [String] {
    let addresses = try await agent.start()
    listener = Task { for await event in agent.events { handle(event) } }
    return addresses
  }

  func close() async {
    await agent.stop()
    listener?.cancel()
  }

  func makeConnection(dialog: SIPCallID? = nil) -> CallConnection {
    let leg = MediaLeg(PhoneConfiguration(), host: host)
    let connection = CallConnection(agent: agent, leg: leg, dialog: dialog)
    connection.closed = { [weak self] in self?.connections.removeAll { $0.hasEnded } }
    connections.append(connection)
    return connection
  }

  func startAudio(through session: AVAudioSession) {
    for connection in connections { connection.attach(to: session.voiceEngine?.streams) }
  }

  func stopAudio() {
    for connection in connections { connection.attach(to: nil) }
  }

  private func handle(_ event: SIPEvent) {
    switch event {
    case .incoming(let dialog, let caller):
      incomingCall?(makeConnection(dialog: dialog), caller.address)
    case .ringing(let dialog):
      connection(of: dialog)?.ringing?()
    case .media(let dialog, let media):
      connection(of: dialog)?.agree(media)
    case .established(let dialog, let host):
      connection(of: dialog)?.noteAnswer(from: host)
    case .ended(let dialog, _):
      connection(of: dialog)?.end()
    default:
      break
    }
  }

  private func connection(of dialog: SIPCallID) -> CallConnection? {
    connections.first { $0.dialog == dialog }
  }
}

/// Connection of one call: a SIP dialog, and the media that both sides agreed on.
@MainActor
final class CallConnection {
  var ringing: (() -> Void)?
  var connected: (() -> Void)?
  /// Called when the far side has ended the call.
  var ended: (() -> Void)?

  /// Called when the connection has been closed, by either side.
  fileprivate var closed: (() -> Void)?

  private(set) var dialog: SIPCallID?
  private(set) var hasEnded = false
  private let agent: UserAgent
  private let leg: MediaLeg
  private var isHeld = false

  init(agent: UserAgent, leg: MediaLeg, dialog: SIPCallID?) {
    self.agent = agent
    self.leg = leg
    self.dialog = dialog
  }

  func dial(_ handle: String) async -> Bool {
    do {
      try leg.open(portPolicy: .anyPort)
      guard let offer = leg.offer else { return false }
      // Who has called is named by a URI.
      let uri = handle.hasPrefix("sip:") ? handle : "sip:\(handle)"
      let dialog = try await agent.invite(uri, offer: offer)
      self.dialog = dialog
      // The user may have hung up while the invitation was on its way.
      if hasEnded { await agent.hangUp(dialog) }
      return !hasEnded
    } catch {
      print("The call could not be placed: \(error)")
      close()
      return false
    }
  }

  func accept() async -> Bool {
    do {
      try leg.open(portPolicy: .anyPort)
    } catch {
      print("The call could not be answered: \(error)")
      return false
    }
    guard let dialog, let offer = leg.offer else { return false }
    return await agent.answer(dialog, offer: offer)
  }

  func hangUp() {
    close()
    if let dialog { Task { await agent.hangUp(dialog) } }
  }

  // What was agreed before is void; the answer to the re-INVITE brings what is to be sent.
  func setHeld(_ isHeld: Bool) {
    self.isHeld = isHeld
    agree(nil)
    if let dialog { Task { await agent.setHeld(dialog, isHeld) } }
  }

  func setMuted(_ isMuted: Bool) { leg.setMuted(isMuted ? .muted : .unmuted) }

  // MARK: The voice: an agreement and an active session

  func noteAnswer(from host: String?) {
    leg.noteAnswer(from: host)
    connected?()
  }

  func agree(_ media: NegotiatedMedia?) {
    change {
      // A second call while the first one talks finds the session active.
      if media != nil { try leg.attach(to: AVAudioSession.sharedInstance().voiceEngine?.streams) }
      try leg.agree(isHeld ? nil : media)
    }
  }

  func attach(to streams: CallStreams?) {
    change { try leg.attach(to: streams) }
  }

  private func change(_ body: () throws -> Void) {
    do {
      try body()
    } catch {
      print("The voice could not start: \(error)")
    }
  }

  fileprivate func end() {
    close()
    ended?()
  }

  private func close() {
    hasEnded = true
    agree(nil)
    closed?()
  }
}
