import MediaCore

@testable import SIPSignalling

/// Signalling of one process over UDP, a model of `UserAgent` and libre in virtual time.
///
/// libre reads its own clock and sockets, so it is modelled: the transactions of RFC 3261 with
/// their timers (section 17), re-INVITEs and their collisions (section 14), refreshes (RFC 4028).
/// The descriptions and the session timers are the real ones. Reports and verbs are those of
/// `UserAgent`.
final class SimulatedSignalling {
  /// A request that has had no final answer.
  struct Request {
    let message: SIPMessage
    let call: SIPCallID
    var interval = SimulatedSignalling.t1
    var end: Int64
    var isProceeding = false
    var isCancelled = false
  }

  /// A final answer to an INVITE, until it is acknowledged.
  struct Answer {
    let message: SIPMessage
    let call: SIPCallID
    var interval = SimulatedSignalling.t1
    let end: Int64
    /// True if this side hung up before the acknowledgement.
    var endsCall = false
  }

  struct Remembered {
    let message: SIPMessage
    let end: Int64
  }

  /// Timer T1 of RFC 3261 section 17.1.1.1, in nanoseconds.
  static let t1: Int64 = 500_000_000
  private static let t2: Int64 = 4_000_000_000
  static let lifetime: Int64 = 32_000_000_000

  unowned let machine: SimulatedMachine
  var calls: [Int: SignalledCall] = [:]
  var requests: [Int: Request] = [:]
  var answers: [SIPMessage.Transaction: Answer] = [:]
  /// Responses by transaction, repeated when a request is retransmitted.
  var given: [SIPMessage.Transaction: Remembered] = [:]
  var acknowledgements: [SIPMessage.Transaction: Remembered] = [:]
  private var nextNumber = 1

  init(_ machine: SimulatedMachine) { self.machine = machine }

  var now: Int64 { machine.world.now }
  var instant: MonotonicInstant { MonotonicInstant(nanoseconds: now) }

  /// True if no request awaits a final answer, and no final answer its acknowledgement.
  var isQuiet: Bool { requests.isEmpty && answers.isEmpty }

  var isForgotten: Bool { calls.isEmpty && isQuiet }

  func makeNumber() -> Int {
    defer { nextNumber += 1 }
    return nextNumber
  }

  func report(_ event: SIPEvent) {
    if case .ended(let id, _) = event { calls[id.rawValue] = nil }
    machine.enqueue(.signalling(event))
  }

  // MARK: Verbs of UserAgent

  func invite(_ peer: Int, callID: Int, _ offer: MediaOffer) -> SIPCallID? {
    guard let description = SessionDescription(offer), let body = description.text(asOffer: true)
    else { return nil }
    let id = SIPCallID(rawValue: makeNumber())
    calls[id.rawValue] = SignalledCall(
      id: id,
      callID: callID,
      peer: peer,
      isIncoming: false,
      localTag: machine.world.makeTag(),
      remoteTag: 0,
      description: description
    )
    sendInvite(id, body)
    return id
  }

  func answer(_ id: SIPCallID, _ offer: MediaOffer) -> Bool {
    guard var call = calls[id.rawValue], !call.isAnswered, let invite = call.invite,
      let remote = call.remoteOffer, let description = SessionDescription(offer)
    else { return false }
    call.description = description
    guard let media = description.take(remote, isOffer: true),
      let body = description.text(asOffer: false)
    else {
      reject(id, 488)
      return false
    }
    call.isAnswered = true
    call.unacknowledged = invite.transaction
    call.isHeld = !media.mayReceive
    calls[id.rawValue] = call
    report(.media(id, media))
    let seconds = call.timer?.seconds
    finish(invite.response(200, tag: call.localTag, body: body, sessionSeconds: seconds), id)
    return true
  }

  func reject(_ id: SIPCallID, _ status: Int) {
    guard let call = calls.removeValue(forKey: id.rawValue), let invite = call.invite else {
      return
    }
    finish(invite.response(status, tag: call.localTag), id)
  }

  func hangUp(_ id: SIPCallID, as refusal: SIPRefusal) {
    guard let call = calls[id.rawValue] else { return }
    if call.isIncoming, !call.isAnswered {
      return reject(id, refusal == .declined ? 603 : 480)
    }
    calls[id.rawValue] = nil
    close(call)
  }

  // What releasing libre's session does.
  func close(_ call: SignalledCall) {
    if !call.isEstablished, let number = call.request {
      cancel(number)
    } else if let transaction = call.unacknowledged, answers[transaction] != nil,
      !call.isEstablished
    {
      // No BYE before the caller has acknowledged (RFC 3261 section 15).
      answers[transaction]?.endsCall = true
    } else {
      var call = call
      request(.bye, &call)
    }
  }

  func setHeld(_ id: SIPCallID, _ isHeld: Bool) {
    guard let call = calls[id.rawValue] else { return }
    call.description?.setHeld(isHeld)
    calls[id.rawValue]?.wantsRenegotiation = !call.isEstablished
    renegotiate(id)
  }

  func ask(_ id: SIPCallID) {
    guard var call = calls[id.rawValue], call.isEstablished, !call.isAsking else { return }
    call.isAsking = true
    request(.options, &call)
    calls[id.rawValue] = call
  }

  func renegotiate(_ id: SIPCallID) {
    guard let call = calls[id.rawValue], call.isEstablished,
      let body = call.description?.text(asOffer: true)
    else { return }
    guard !call.isBusy else {
      calls[id.rawValue]?.waitingOffer = body
      return
    }
    sendInvite(id, body)
  }

  func sendWaitingOffer(_ id: SIPCallID) {
    guard let call = calls[id.rawValue], !call.isBusy, let body = call.waitingOffer else { return }
    calls[id.rawValue]?.waitingOffer = nil
    sendInvite(id, body)
  }

  // MARK: Requests

  private func sendInvite(_ id: SIPCallID, _ body: [UInt8]) {
    guard var call = calls[id.rawValue] else { return }
    // A re-INVITE of libre's asks for no timer.
    let seconds = call.isEstablished ? nil : SessionTimer.usual
    call.request = request(.invite, &call, body, seconds)
    calls[id.rawValue] = call
  }

  @discardableResult
  func request(
    _ method: SIPMessage.Method,
    _ call: inout SignalledCall,
    _ body: [UInt8]? = nil,
    _ sessionSeconds: Int? = nil
  ) -> Int {
    call.localSequence += 1
    let message = SIPMessage(
      sender: machine.index,
      receiver: call.peer,
      callID: call.callID,
      method: method,
      sequence: call.localSequence,
      requesterTag: call.localTag,
      responderTag: call.remoteTag,
      body: body,
      sessionSeconds: sessionSeconds
    )
    return begin(message, of: call.id)
  }

  func begin(_ message: SIPMessage, of call: SIPCallID) -> Int {
    let number = makeNumber()
    requests[number] = Request(message: message, call: call, end: now + Self.lifetime)
    machine.world.send(message)
    schedule(.request(number), at: now + Self.t1)
    return number
  }

  private func cancel(_ number: Int) {
    guard var request = requests[number] else { return }
    request.isCancelled = true
    request.end = now + Self.lifetime
    requests[number] = request
    schedule(.request(number), at: request.end)
    if request.isProceeding { sendCancel(of: request) }
  }

  func sendCancel(of request: Request) {
    let invite = request.message
    let message = SIPMessage(
      sender: invite.sender,
      receiver: invite.receiver,
      callID: invite.callID,
      method: .cancel,
      sequence: invite.sequence,
      requesterTag: invite.requesterTag,
      responderTag: 0
    )
    _ = begin(message, of: request.call)
  }

  func schedule(_ timer: SignallingTimer, at time: Int64) {
    machine.schedule(.signalling(timer), at: time)
  }

  // MARK: Timers

  func fire(_ timer: SignallingTimer) {
    switch timer {
    case .request(let number):
      repeatRequest(number)
    case .answer(let transaction):
      repeatAnswer(transaction)
    case .retry(let id, let number):
      guard calls[id.rawValue]?.retryNumber == number else { return }
      calls[id.rawValue]?.isWaitingForRetry = false
      sendWaitingOffer(id)
    case .session(let id, let number):
      guard let call = calls[id.rawValue], call.timerNumber == number else { return }
      sessionTimerFired(call)
    }
  }

  private func repeatRequest(_ number: Int) {
    guard var request = requests[number] else { return }
    let isInvite = request.message.method == .invite
    let waits = isInvite && request.isProceeding && !request.isCancelled
    if now >= request.end, !waits {
      requests[number] = nil
      return timedOut(request, number)
    }
    if isInvite, request.isProceeding { return }
    machine.world.send(request.message)
    request.interval = isInvite ? request.interval * 2 : min(request.interval * 2, Self.t2)
    requests[number] = request
    schedule(.request(number), at: min(now + request.interval, max(now + 1, request.end)))
  }

  private func timedOut(_ request: Request, _ number: Int) {
    guard let call = calls[request.call.rawValue] else { return }
    switch request.message.method {
    case .invite where call.request == number:
      if call.isEstablished { close(call) }
      report(.ended(call.id, .timeout))
    case .options:
      gotStatus(nil, call.id)
    case .update:
      calls[call.id.rawValue]?.isRefreshing = false
      guard var timer = call.timer else { return }
      timer.refreshWasLost(at: instant)
      setTimer(timer, of: call.id)
    default:
      break
    }
  }

  private func repeatAnswer(_ transaction: SIPMessage.Transaction) {
    guard var answer = answers[transaction] else { return }
    guard now < answer.end else {
      answers[transaction] = nil
      guard answer.message.status == 200 else { return }
      guard let call = calls[answer.call.rawValue] else { return }
      // No acknowledgement has come: the call is over (RFC 3261 section 13.3.1.4).
      var last = call
      self.request(.bye, &last)
      return report(.ended(call.id, .timeout))
    }
    machine.world.send(answer.message)
    answer.interval = min(answer.interval * 2, Self.t2)
    answers[transaction] = answer
    schedule(.answer(transaction), at: min(now + answer.interval, answer.end))
  }

  // A final answer to an INVITE is repeated until it is acknowledged.
  func finish(_ message: SIPMessage, _ id: SIPCallID) {
    answers[message.transaction] = Answer(message: message, call: id, end: now + Self.lifetime)
    remember(message)
    machine.world.send(message)
    schedule(.answer(message.transaction), at: now + Self.t1)
  }

  func remember(_ message: SIPMessage) {
    given[message.transaction] = Remembered(message: message, end: now + Self.lifetime)
  }

  /// Removes responses and acknowledgements that have expired.
  func tidy() {
    given = given.filter { $0.value.end > now }
    acknowledgements = acknowledgements.filter { $0.value.end > now }
  }

  // MARK: Session timers

  func setTimer(_ timer: SessionTimer?, of id: SIPCallID) {
    calls[id.rawValue]?.timer = timer
    calls[id.rawValue]?.timerNumber += 1
    guard let timer, let number = calls[id.rawValue]?.timerNumber else { return }
    schedule(.session(id, number), at: max(now, timer.next.at.nanoseconds))
  }

  func noteTimer(_ seconds: Int?, isCaller: Bool, of id: SIPCallID) {
    let header = seconds.map { "\($0)" } ?? ""
    setTimer(SessionTimer(header, isCaller: isCaller, at: instant), of: id)
  }

  private func sessionTimerFired(_ call: SignalledCall) {
    guard let timer = call.timer, call.isEstablished else { return }
    switch timer.next.step {
    case .refresh:
      guard !call.isRefreshing else { return }
      var call = call
      call.isRefreshing = true
      request(.update, &call, nil, timer.seconds)
      calls[call.id.rawValue] = call
    case .end:
      endAsGone(call)
    }
  }

  func endAsGone(_ call: SignalledCall) {
    close(call)
    report(.ended(call.id, .gone))
  }
}
