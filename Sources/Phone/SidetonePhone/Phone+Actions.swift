import AVFAudio
import CallKit
import Foundation
import MediaCore
import RTP
import RealTime
import SIPSignalling
import UDPTransport
import VoiceEngine

/// How a phone performs what the call system asks of it.
extension Phone {
  private func call(for action: CXCallAction) -> PhoneCall? {
    calls.first { $0.uuid == action.callUUID }
  }

  func start(_ action: CXStartCallAction) async {
    guard let call = call(for: action),
      let offer = configuration.offer(for: call)
    else {
      action.fail()
      return
    }
    do {
      call.sip = try await agent.invite(action.handle.value, offer: offer)
      action.fulfill()
    } catch {
      action.fail()
      finish(call, reason: "\(error)", isClean: false)
    }
  }

  func answer(_ action: CXAnswerCallAction) async {
    guard let call = call(for: action), let sip = call.sip else {
      action.fail()
      return
    }
    do {
      call.socket = try configuration.openSocket(at: call.localHost, isFirst: !hasHadCalls)
      hasHadCalls = true
    } catch {
      continuation.yield(.error("\(error)"))
      call.endReason = ("\(error)", false)
      action.fail()
      return
    }
    guard let offer = configuration.offer(for: call) else {
      action.fail()
      return
    }
    guard await agent.answer(sip, offer: offer) else {
      call.endReason = call.endReason ?? ("the caller has gone", false)
      action.fail()
      return
    }
    action.fulfill()
  }

  func end(_ action: CXEndCallAction) async {
    if let call = call(for: action) {
      // Who does not answer has not declined: his other telephones may ring on.
      let isUnanswered = call.ringsUntil.map { MonotonicClock.now() >= $0 } ?? false
      await hangUp(call, as: isUnanswered || call.endReason != nil ? .unavailable : .declined)
      let reason = call.endReason ?? ("hung up", call.connectedAt != nil)
      finish(call, reason: reason.text, isClean: reason.isClean)
    }
    action.fulfill()
  }

  func setMuted(_ action: CXSetMutedCallAction) {
    guard let call = call(for: action) else {
      action.fail()
      return
    }
    call.isMuted = action.isMuted
    if let stream = call.stream { engine?.setMuted(stream, action.isMuted ? .muted : .unmuted) }
    action.fulfill()
  }

  // The re-INVITE goes out first; a resumed stream starts when it is accepted.
  func setHeld(_ action: CXSetHeldCallAction) async {
    guard let call = call(for: action) else {
      action.fail()
      return
    }
    call.isHeld = action.isOnHold
    call.endReason = nil
    // What was agreed counts no more: the voice waits for what is agreed next.
    detach(call)
    call.media = nil
    call.resumedAt = action.isOnHold ? nil : MonotonicClock.now()
    if let sip = call.sip { await agent.setHeld(sip, action.isOnHold) }
    continuation.yield(action.isOnHold ? .held(call.uuid) : .resumed(call.uuid))
    action.fulfill()
  }

  func setGroup(_ action: CXSetGroupCallAction) {
    guard let call = call(for: action) else {
      action.fail()
      return
    }
    if let other = action.callUUIDToGroupWith {
      guard let partner = calls.first(where: { $0.uuid == other }) else {
        action.fail()
        return
      }
      if partner.conference == 0 {
        setConference(partner, (calls.map(\.conference).max() ?? 0) + 1)
      }
      setConference(call, partner.conference)
      continuation.yield(.joined(call.uuid, with: other))
    } else {
      leaveConference(call)
      continuation.yield(.separated(call.uuid))
    }
    action.fulfill()
  }

  func playDTMF(_ action: CXPlayDTMFCallAction) {
    guard let call = call(for: action), !call.isHeld else {
      action.fail()
      return
    }
    guard call.media == nil || call.media?.sendEventPayloadType != nil else {
      continuation.yield(.error("the far side takes no keys"))
      action.fail()
      return
    }
    call.waitingKeys += action.digits.compactMap { TelephoneEvent.code(of: $0) }
    sendWaitingKeys(of: call)
    action.fulfill()
  }
}
