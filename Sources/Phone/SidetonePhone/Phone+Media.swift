import AVFAudio
import CallKit
import Foundation
import MediaCore
import RTP
import RealTime
import SIPSignalling
import UDPTransport
import VoiceEngine

/// The voice of a phone's calls: streams over the session's engine, and whether they live.
extension Phone {
  /// A far side that has agreed to nothing so long after a resume will not (RFC 3261, timer B and
  /// more).
  private static let agreementNanoseconds: Int64 = 35_000_000_000

  /// An answer to a hold may come so long after the resume.
  private static let lateAnswerNanoseconds: Int64 = 1_000_000_000

  /// The engine of the active session, nil while no call is heard.
  var engine: CallEngine? { AVAudioSession.sharedInstance().voiceEngine }

  // The voice starts when both are there: the agreement of the sides and the active session. After
  // a re-INVITE that changed the agreement it starts anew, over the same port.
  func attachIfPossible(_ call: PhoneCall) {
    guard !call.isHeld, let media = call.media, media != call.streamMedia,
      let engine, call.socket != nil
    else { return }
    detach(call, keepingKeys: true)
    call.streamMedia = media
    // While the far side holds the call there is nothing to send or play.
    guard media.maySend || media.mayReceive,
      let remote = SocketAddress(host: media.host, port: media.port),
      let control = SocketAddress(host: media.controlHost, port: media.controlPort)
    else { return }
    do {
      guard var socket = try call.socket?.duplicate() else { return }
      // What came while the call was held is old; the first words of a new call are not.
      if call.hadStream { socket.discardPending() }
      call.hadStream = true
      socket.connect(to: remote, control: control)
      call.stream = try engine.attach(
        configuration.stream(for: media),
        over: socket,
        call.isMuted ? .muted : .unmuted,
        conference: call.conference
      )
      sendWaitingKeys(of: call)
    } catch {
      abandon(call, reason: "the voice cannot start: \(error)")
    }
  }

  /// Sends the keys that were pressed, once there is a stream to send them on.
  func sendWaitingKeys(of call: PhoneCall) {
    guard let stream = call.stream, let engine else { return }
    if let former = call.formerStream {
      // What it had still to send comes first; until it is known, the rest waits (`takeKeys`).
      guard let keys = engine.takeUnsentKeys(of: former) else { return }
      call.waitingKeys = keys + call.waitingKeys
      call.formerStream = nil
    }
    for code in call.waitingKeys { engine.press(stream, code: code) }
    call.waitingKeys = []
  }

  /// Lets a call's stream go; the port stays open.
  ///
  /// Digits that it had not sent go to the next one, or are dropped: after a hold they would
  /// come at another time.
  func detach(_ call: PhoneCall, keepingKeys: Bool = false) {
    if let stream = call.stream {
      // Report its received digits before it is gone.
      tellKeys(of: call)
      // One whose predecessor's keys are still to come was given none.
      engine?.detach(stream, keepingKeys: keepingKeys && call.formerStream == nil)
    }
    if keepingKeys {
      call.formerStream = call.formerStream ?? call.stream
    } else if let former = call.formerStream {
      engine?.forgetUnsentKeys(of: former)
      call.formerStream = nil
    }
    call.stream = nil
    call.streamMedia = nil
  }

  func setConference(_ call: PhoneCall, _ conference: Int) {
    call.conference = conference
    guard let stream = call.stream else { return }
    engine?.setConference(stream, conference)
  }

  /// Takes a call out of its conference, which is over when one is left.
  func leaveConference(_ call: PhoneCall) {
    guard call.conference != 0 else { return }
    let others = calls.filter { $0.conference == call.conference && $0 !== call }
    setConference(call, 0)
    if others.count == 1 { setConference(others[0], 0) }
  }

  /// Tells the user when the far side holds the call or resumes it.
  func noteFarHold(_ call: PhoneCall, _ media: NegotiatedMedia) {
    // While this side holds it, the agreement says nothing of the far side; nor does one that
    // forbids to send right after a resume, which may still be the answer to the hold.
    guard !call.isHeld, call.media != nil || media.maySend, call.isHeldByFarSide == media.maySend
    else { return }
    call.isHeldByFarSide.toggle()
    continuation.yield(
      call.isHeldByFarSide ? .heldByFarSide(call.uuid) : .resumedByFarSide(call.uuid)
    )
  }

  // What forbids to send and stays is no late answer: the far side has held the call as well.
  private func noteLastingHold(_ call: PhoneCall) {
    guard !call.isHeld, !call.isHeldByFarSide, call.media?.maySend == false,
      let resumed = call.resumedAt,
      MonotonicClock.now().nanoseconds(since: resumed) > Self.lateAnswerNanoseconds
    else { return }
    call.isHeldByFarSide = true
    continuation.yield(.heldByFarSide(call.uuid))
  }

  /// How long a service has to permit real-time scheduling.
  private static let promotionNanoseconds: Int64 = 5_000_000_000

  func watch() {
    guard let engine else { return }
    for call in calls {
      if let resumed = call.resumedAt, call.media == nil, !call.isHeld,
        MonotonicClock.now().nanoseconds(since: resumed) > Self.agreementNanoseconds
      {
        abandon(call, reason: "the far side does not resume the call")
        continue
      }
      noteLastingHold(call)
      guard let id = call.stream else { continue }
      warnOfScheduling(in: call, on: engine)
      guard let statistics = engine.statistics(of: id) else { continue }
      // Who holds the call may say nothing at all, whatever was agreed (RFC 3264 section 8.4).
      let isExpected = call.media?.mayReceive == true && !call.isHeldByFarSide
      if let death = MediaTimeout(statistics, isExpected: isExpected) {
        abandon(call, reason: death.description)
      }
    }
  }

  /// Hears of the keys of an engine that has just come to life.
  func listenForKeys() {
    keyListener = engine.map { engine in
      EventListener(engine.keyNews) { [weak self] in Task { await self?.takeKeys() } }
    }
  }

  private func takeKeys() {
    for call in calls where call.stream != nil {
      if call.formerStream != nil { sendWaitingKeys(of: call) }
      tellKeys(of: call)
    }
  }

  private func tellKeys(of call: PhoneCall) {
    guard let engine, let stream = call.stream else { return }
    for key in engine.takeKeys(of: stream).compactMap({ TelephoneEvent.key(of: $0) }) {
      continuation.yield(.pressed(call.uuid, key: String(key)))
    }
  }

  // The voice of a call has failed for good: end it on the far side and in the call system.
  func abandon(_ call: PhoneCall, reason: String) {
    if let sip = call.sip { Task { [agent] in await agent.hangUp(sip) } }
    call.sip = nil
    conclude(call, reason: reason, as: .failed, isClean: false)
  }

  // Not at once: somebody may be asked to permit it, and needs a moment.
  private func warnOfScheduling(in call: PhoneCall, on engine: CallEngine) {
    guard !hasWarnedOfScheduling, let connected = call.connectedAt,
      MonotonicClock.now().nanoseconds(since: connected) > Self.promotionNanoseconds,
      engine.scheduling == .ordinary
    else { return }
    hasWarnedOfScheduling = true
    continuation.yield(
      .error("real-time scheduling is not permitted; sound may break up when the machine is busy")
    )
  }
}
