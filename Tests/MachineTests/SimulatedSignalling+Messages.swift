import MediaCore

@testable import SIPSignalling

/// Handling of messages that arrive.
extension SimulatedSignalling {
  // MARK: Messages

  func receive(_ message: SIPMessage) {
    if let status = message.status {
      receiveResponse(message, status)
    } else {
      receiveRequest(message)
    }
  }

  private func call(of message: SIPMessage) -> SignalledCall? {
    let isRequest = message.status == nil
    let local = isRequest ? message.responderTag : message.requesterTag
    let remote = isRequest ? message.requesterTag : message.responderTag
    return calls.values.first {
      $0.callID == message.callID && $0.localTag == local
        && ($0.remoteTag == remote || $0.remoteTag == 0)
    }
  }

  private func receiveRequest(_ message: SIPMessage) {
    if message.method == .acknowledge { return acknowledged(message) }
    if let before = given[message.transaction] { return machine.world.send(before.message) }
    if message.method == .cancel { return cancelled(message) }
    if message.method == .invite, message.responderTag == 0 { return gotInvite(message) }
    guard let call = call(of: message) else {
      if message.method == .invite {
        return finish(message.response(481, tag: message.responderTag), SIPCallID(rawValue: 0))
      }
      return answer(message, 481)
    }
    guard message.sequence > call.remoteSequence else { return answer(message, 500) }
    calls[call.id.rawValue]?.remoteSequence = message.sequence
    switch message.method {
    case .bye:
      answer(message, 200)
      // Its own re-INVITE comes to nothing.
      if let number = call.request { requests[number] = nil }
      report(.ended(call.id, .remoteHangUp))
    case .options:
      answer(message, 200)
    case .update:
      noteTimer(message.sessionSeconds, isCaller: false, of: call.id)
      answer(message, 200, sessionSeconds: message.sessionSeconds)
    default:
      gotReinvite(message, call)
    }
  }

  private func answer(_ message: SIPMessage, _ status: Int, sessionSeconds: Int? = nil) {
    let tag = message.responderTag
    let response = message.response(status, tag: tag, sessionSeconds: sessionSeconds)
    remember(response)
    machine.world.send(response)
  }

  private func gotInvite(_ message: SIPMessage) {
    // One that it has rung for already.
    let known = calls.values.first {
      $0.callID == message.callID && $0.remoteTag == message.requesterTag
    }
    if let known {
      if !known.isAnswered { machine.world.send(message.response(180, tag: known.localTag)) }
      return
    }
    let id = SIPCallID(rawValue: makeNumber())
    let tag = machine.world.makeTag()
    var call = SignalledCall(
      id: id,
      callID: message.callID,
      peer: message.sender,
      isIncoming: true,
      localTag: tag,
      remoteTag: message.requesterTag
    )
    call.invite = message
    call.remoteOffer = message.body
    call.remoteSequence = message.sequence
    calls[id.rawValue] = call
    noteTimer(message.sessionSeconds, isCaller: false, of: id)
    machine.world.send(message.response(180, tag: tag))
    machine.enqueue(.incoming(id, callID: message.callID, from: message.sender))
  }

  private func gotReinvite(_ message: SIPMessage, _ call: SignalledCall) {
    let id = call.id
    if call.request != nil { return finish(message.response(491, tag: call.localTag), id) }
    if call.unacknowledged != nil || !call.isEstablished {
      return finish(message.response(500, tag: call.localTag), id)
    }
    // libre answers without a timer.
    setTimer(nil, of: id)
    guard let description = call.description, let body = message.body,
      let media = description.take(body, isOffer: true), let text = description.text(asOffer: false)
    else { return finish(message.response(488, tag: call.localTag), id) }
    calls[id.rawValue]?.unacknowledged = message.transaction
    calls[id.rawValue]?.isHeld = !media.mayReceive
    report(.media(id, media))
    finish(message.response(200, tag: call.localTag, body: text), id)
  }

  private func cancelled(_ message: SIPMessage) {
    let found = calls.values.first {
      $0.callID == message.callID && $0.remoteTag == message.requesterTag && $0.isIncoming
    }
    guard let call = found else { return answer(message, 481) }
    answer(message, 200)
    guard !call.isAnswered, let invite = call.invite else { return }
    finish(invite.response(487, tag: call.localTag), call.id)
    report(.ended(call.id, .remoteHangUp))
  }

  private func acknowledged(_ message: SIPMessage) {
    let transaction = SIPMessage.Transaction(
      callID: message.callID,
      callerTag: message.requesterTag,
      sequence: message.sequence,
      method: .invite
    )
    guard let answer = answers.removeValue(forKey: transaction), answer.message.status == 200
    else { return }
    guard var call = calls[answer.call.rawValue] else {
      guard answer.endsCall else { return }
      // Hung up while the acknowledgement was on its way.
      return sendBye(after: answer.message, answer.call)
    }
    let isFirst = !call.isEstablished
    call.isEstablished = true
    call.unacknowledged = nil
    calls[call.id.rawValue] = call
    if isFirst, var timer = call.timer {
      timer.restart(at: instant)
      setTimer(timer, of: call.id)
    }
    report(.established(call.id, from: nil))
    afterEstablishing(call.id, isFirst: isFirst)
  }

  private func sendBye(after answer: SIPMessage, _ id: SIPCallID) {
    let message = SIPMessage(
      sender: machine.index,
      receiver: answer.receiver,
      callID: answer.callID,
      method: .bye,
      sequence: 1,
      requesterTag: answer.responderTag,
      responderTag: answer.requesterTag
    )
    _ = begin(message, of: id)
  }

  private func afterEstablishing(_ id: SIPCallID, isFirst: Bool) {
    if isFirst, calls[id.rawValue]?.wantsRenegotiation == true {
      calls[id.rawValue]?.wantsRenegotiation = false
      renegotiate(id)
    } else {
      sendWaitingOffer(id)
    }
  }

  // MARK: Responses

  private func receiveResponse(_ message: SIPMessage, _ status: Int) {
    let matching = requests.filter { $0.value.message.transaction == message.transaction }
    guard let number = matching.keys.min(), var request = requests[number] else {
      // The acknowledgement was lost.
      if message.method == .invite, status >= 200,
        let before = acknowledgements[message.transaction]
      {
        machine.world.send(before.message)
      }
      return
    }
    if status < 200 {
      guard message.method == .invite, !request.isProceeding else { return }
      request.isProceeding = true
      requests[number] = request
      if request.isCancelled { return sendCancel(of: request) }
      report(.ringing(request.call))
      return
    }
    requests[number] = nil
    switch message.method {
    case .invite: gotFinal(message, status, request, number)
    case .options: gotStatus(status, request.call)
    case .update: gotRefreshed(message, status, request.call)
    default: break
    }
  }

  private func acknowledge(_ message: SIPMessage) {
    let acknowledgement = SIPMessage(
      sender: machine.index,
      receiver: message.sender,
      callID: message.callID,
      method: .acknowledge,
      sequence: message.sequence,
      requesterTag: message.requesterTag,
      responderTag: message.responderTag
    )
    acknowledgements[message.transaction] = Remembered(
      message: acknowledgement,
      end: now + 2 * Self.lifetime
    )
    machine.world.send(acknowledgement)
  }

  private func gotFinal(_ message: SIPMessage, _ status: Int, _ request: Request, _ number: Int) {
    acknowledge(message)
    let id = request.call
    guard var call = calls[id.rawValue], call.request == number else {
      // Answered although it was cancelled, or hung up meanwhile.
      guard status == 200, request.isCancelled else { return }
      var gone = SignalledCall(
        id: id,
        callID: message.callID,
        peer: message.sender,
        isIncoming: false,
        localTag: message.requesterTag,
        remoteTag: message.responderTag
      )
      gone.localSequence = message.sequence
      self.request(.bye, &gone)
      return
    }
    call.request = nil
    if status == 200 { call.remoteTag = message.responderTag }
    calls[id.rawValue] = call
    switch status {
    case 200:
      accepted(message, call)
    case 481:
      if call.isEstablished { close(call) }
      report(.ended(id, .refused(code: status, phrase: "")))
    case 491 where call.isEstablished:
      // RFC 3261 section 14.1: the side that owns the Call-ID waits longer.
      let pause = machine.world.random(0..<1_900) + (call.isIncoming ? 0 : 2_100)
      waitForRetry(call, for: Int64(pause) * 1_000_000)
    default:
      guard call.isEstablished else {
        return report(.ended(id, .refused(code: status, phrase: "")))
      }
      guard let pause = call.offerRetry.pause(after: status, isIncoming: call.isIncoming) else {
        return sendWaitingOffer(id)
      }
      calls[id.rawValue]?.offerRetry = call.offerRetry
      waitForRetry(call, for: pause)
    }
  }

  private func accepted(_ message: SIPMessage, _ call: SignalledCall) {
    let id = call.id
    noteTimer(message.sessionSeconds, isCaller: true, of: id)
    guard let body = message.body, let media = call.description?.take(body, isOffer: false) else {
      if !call.isEstablished {
        close(call)
        report(.ended(id, .noCommonCodec))
      }
      return
    }
    report(.media(id, media))
    calls[id.rawValue]?.offerRetry.noteAgreement()
    calls[id.rawValue]?.isHeld = !media.mayReceive
    calls[id.rawValue]?.isEstablished = true
    report(.established(id, from: nil))
    afterEstablishing(id, isFirst: !call.isEstablished)
  }

  private func waitForRetry(_ call: SignalledCall, for pause: Int64) {
    guard let body = call.description?.text(asOffer: true) else { return }
    calls[call.id.rawValue]?.isWaitingForRetry = true
    calls[call.id.rawValue]?.waitingOffer = body
    calls[call.id.rawValue]?.retryNumber += 1
    schedule(.retry(call.id, call.retryNumber + 1), at: now + pause)
  }

  func gotStatus(_ status: Int?, _ id: SIPCallID) {
    guard var call = calls[id.rawValue] else { return }
    call.isAsking = false
    let conclusion = call.presence.note(status, isHeld: call.isHeld, at: instant)
    calls[id.rawValue] = call
    switch conclusion {
    case .none: break
    case .isUnheard: renegotiate(id)
    case .isGone: endAsGone(call)
    }
  }

  private func gotRefreshed(_ message: SIPMessage, _ status: Int, _ id: SIPCallID) {
    guard let call = calls[id.rawValue] else { return }
    calls[id.rawValue]?.isRefreshing = false
    switch status {
    case 200: noteTimer(message.sessionSeconds, isCaller: true, of: id)
    case 408, 481: endAsGone(call)
    default:
      setTimer(nil, of: id)
      renegotiate(id)
    }
  }
}
