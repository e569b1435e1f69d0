import AVFAudio
import CallKit
import CallSecurity
import Foundation
import MediaCore
import RTP
import RealTime
import SIPSignalling
import VoiceEngine

/// The execution of the orders of `PhoneControl`.
extension Phone {
  /// The engine of the active session; nil while no call is active.
  var engine: CallEngine? { AVAudioSession.sharedInstance().voiceEngine }

  /// Carries orders out one after the other; some of them fulfil or fail `action`.
  func perform(_ orders: [PhoneControl.Order], for action: Delivered? = nil) async {
    for order in orders { await perform(order.effect, on: order.call, for: action) }
  }

  private func perform(_ effect: PhoneCallEffect, on uuid: UUID, for action: Delivered?) async {
    switch effect {
    case .invite(_, let attempt):
      await invite(uuid, attempt, for: action)
    case .accept(let sip):
      await accept(sip, uuid, for: action)
    case .fulfill:
      action?.action.fulfill()
    case .fail:
      action?.action.fail()
    case .hangUp(let sip, let refusal):
      await agent.hangUp(sip, as: refusal)
    case .sendHold(let sip, let isHeld):
      await agent.setHeld(sip, isHeld)
    case .hold:
      await hold(uuid)
    case .ask(let sip):
      await agent.ask(sip)
    case .agree(let media):
      let engine = engine
      await change(uuid) { leg in
        // What was agreed before must not start once more.
        if media != nil { try leg.attach(to: engine?.streams) }
        try leg.agree(media)
      }
    case .mute(let state):
      calls[uuid]?.leg.setMuted(state)
    case .sendDigits(let digits):
      calls[uuid]?.leg.send(digits: digits)
    case .setConference(let conference):
      calls[uuid]?.leg.setConference(conference)
    case .reportConnecting:
      provider.reportOutgoingCall(with: uuid, startedConnectingAt: nil)
    case .reportConnected:
      provider.reportOutgoingCall(with: uuid, connectedAt: nil)
    case .reportEnded(let reason):
      provider.reportCall(with: uuid, endedAt: nil, reason: reason)
    case .tell(let event):
      if case .secured(_, let protection) = event {
        CallScreens.setRemark(protection.remark, of: uuid)
      }
      continuation.yield(event)
    case .remember(let address, let fingerprint):
      await remember(address, fingerprint, of: uuid)
    case .route(let route):
      await change(uuid) { try $0.take(route) }
    case .release(let end):
      tellDigits(of: uuid)
      await endTransfer(of: uuid, by: end)
      endReplacement(by: uuid)
      endRecording(uuid)
      // Phones that transfer without asking hang up at once (RFC 5589 section 6.1).
      if let call = calls[uuid], let target = call.requestedTransfer, end == .hungUpByFarSide {
        requestLeft = LeftRequest(
          call: uuid,
          target: target,
          account: call.account,
          at: MonotonicClock.now()
        )
      }
      await release(uuid)
    }
  }

  /// Releases all that the phone holds for a call that is over, or has not begun.
  func release(_ uuid: UUID) async {
    guard let call = calls.removeValue(forKey: uuid), let path = call.leg.path else { return }
    await agent.closePath(path.id)
  }

  // MARK: Signalling

  private func invite(_ uuid: UUID, _ attempt: Attempt, for action: Delivered?) async {
    do {
      guard let route = calls[uuid]?.route else { throw PhoneError.noCallAddress }
      if let account = route.account {
        return try await invite(uuid, route, attempt, through: account, for: action)
      }
      let transport = try await attempt.signalsOpenly ? .udp : transport(of: route)
      guard var offer = calls[uuid]?.leg.offer else {
        throw PhoneError.noMedia("the call has no RTP port")
      }
      offer.encryption?.choice = attempt.choice
      offer.encryption?.mayDescribeKeys = transport == .tls
      let sip = try await agent.invite(
        route.uri(by: transport),
        offer: offer,
        expecting: transport == .tls ? route.securePeer : nil,
        target: route.target
      )
      await handle(.invited(sip, by: transport), of: uuid, for: action)
      if transport == .udp, let address = route.openAddress { probe(address, for: uuid) }
    } catch {
      await handle(.inviteFailed(CallEnd(error)), of: uuid, for: action)
    }
  }

  private func invite(
    _ uuid: UUID,
    _ route: CallRoute,
    _ attempt: Attempt,
    through account: String,
    for action: Delivered?
  ) async throws {
    guard var offer = calls[uuid]?.leg.offer else {
      throw PhoneError.noMedia("the call has no RTP port")
    }
    offer.encryption?.choice = attempt.choice
    let (sip, transport) = try await agent.invite(
      route.uri(by: .udp),
      offer: offer,
      through: account,
      target: route.target
    )
    await handle(.invited(sip, by: transport), of: uuid, for: action)
  }

  private func accept(_ sip: SIPCallID, _ uuid: UUID, for action: Delivered?) async {
    do {
      try open(uuid)
    } catch {
      continuation.yield(.error("\(error)"))
      return await handle(.acceptFailed(CallEnd(error)), of: uuid, for: action)
    }
    await finishPath(uuid)
    guard let offer = calls[uuid]?.leg.offer, await agent.answer(sip, offer: offer) else {
      return await handle(.acceptFailed(.lost("the caller has gone")), of: uuid, for: action)
    }
    await handle(.accepted, of: uuid, for: action)
  }

  // MARK: Media

  /// Attaches every call to the engine of the session that was activated; nil detaches them.
  func attachLegs(to engine: CallEngine?) async {
    for uuid in control.calls.map(\.uuid) {
      await change(uuid) { try $0.attach(to: engine?.streams) }
    }
  }

  func change(_ uuid: UUID, _ body: (MediaLeg) throws -> Void) async {
    guard let leg = calls[uuid]?.leg else { return }
    do {
      try body(leg)
      tellDigits(of: uuid)
    } catch {
      await handle(.voiceFailed("the voice cannot start: \(error)"), of: uuid)
    }
  }

  private func hold(_ uuid: UUID) async {
    do {
      try await setHeld(uuid, true)
    } catch {
      await handle(.mediaFailed(.failed("the call cannot be held: \(error)")), of: uuid)
    }
  }

  /// Passes the time to all calls, and statistics to those with a stream; call it once a second.
  ///
  /// Also warns of missing real-time scheduling, and saves recordings.
  func watch() async {
    let warning = engine.flatMap {
      control.noteScheduling($0.scheduling, at: MonotonicClock.now())
    }
    if let warning { continuation.yield(warning) }
    saveRecordings()
    for uuid in control.calls.map(\.uuid) {
      await handle(.timePassed, of: uuid)
      guard let statistics = calls[uuid]?.leg.statistics else { continue }
      await handle(.mediaReported(statistics), of: uuid)
    }
  }

  // MARK: DTMF digits

  /// Begins to listen for DTMF digits that the current engine receives.
  func listenForDigits() {
    digitListener = engine.map { engine in
      EventListener(engine.streams.digitNews) { [weak self] in Task { await self?.tellDigits() } }
    }
  }

  private func tellDigits() async {
    for uuid in control.calls.map(\.uuid) {
      await change(uuid) { try $0.followCodec() }
    }
  }

  private func tellDigits(of uuid: UUID) {
    for digit in (calls[uuid]?.leg.takeDigits() ?? []).compactMap({ TelephoneEvent.key(of: $0) }) {
      continuation.yield(.pressed(uuid, key: String(digit)))
    }
  }
}
