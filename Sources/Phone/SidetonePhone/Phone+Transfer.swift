import CallKit
import CallSecurity
public import Foundation
import RealTime
import SIPSignalling

/// Transfers of calls, which go on without this side, or with another far side (RFC 5589).
extension Phone {
  /// Asks the far side of a call to call another one; this call ends once those two talk.
  ///
  /// - Parameters:
  ///   - uuid: an established call.
  ///   - text: the address to call, as for `call`.
  /// - Throws: a `PhoneError` if the call is not established or `text` is no address.
  public func transfer(_ uuid: UUID, to text: String) async throws {
    let sip = try established(uuid)
    let choice = try AccountChoice(text, calls[uuid]?.account, among: configuration.accounts)
    continuation.yield(.transferring(uuid, to: choice.address.uri))
    await agent.transfer(sip, to: TransferTarget(uri: choice.address.wholeURI))
  }

  /// Lets the far sides of two calls talk to each other; both calls end once they do.
  ///
  /// Throws a `PhoneError` if one of the calls is not established, or the other one has no address.
  public func transfer(_ uuid: UUID, to other: UUID) async throws {
    let sip = try established(uuid)
    let otherSIP = try established(other)
    // Others choose between UDP and TLS themselves.
    let transport = control[other]?.transport == .tcp ? SIPTransport.tcp : .udp
    guard let partner = calls[other] else { throw PhoneError.notConnected }
    let uri = partner.route?.uri(by: transport) ?? partner.origin?.callableURI
    continuation.yield(.transferring(uuid, to: uri ?? partner.origin?.uri ?? ""))
    await agent.transfer(sip, intoPlaceOf: otherSIP, at: uri)
  }

  private func established(_ uuid: UUID) throws -> SIPCallID {
    guard let call = control[uuid], call.establishedAt != nil, let sip = call.sip else {
      throw PhoneError.notConnected
    }
    return sip
  }

  // MARK: The side that is transferred

  /// Places the call that the far side of a call has asked for.
  ///
  /// To be called only if the user agrees, since such a call may cost money. The new call goes
  /// through the account of the call in which it was asked for, or through none.
  ///
  /// - Parameter uuid: the call that `PhoneEvent.transferRequested` has named, which the far side
  ///   may have ended up to a minute ago, unless there has been another call since.
  /// - Throws: a `PhoneError` if no transfer was requested; a `PhoneError` or `CallEnd` if the
  ///   target cannot be called, of which the far side has then been notified.
  public func acceptTransfer(_ uuid: UUID) async throws {
    if let left = requestLeft, left.call == uuid {
      requestLeft = nil
      guard left.isValid(at: MonotonicClock.now()) else { throw PhoneError.noTransferRequested }
      // No far side is left that wants reports.
      let use = left.account.map { AccountUse.named($0) } ?? .none
      try await call(left.target.uri, use, target: left.target)
      return
    }
    let (id, target) = try takeRequest(uuid)
    do {
      let use = calls[uuid]?.account.map { AccountUse.named($0) } ?? .none
      try await call(target.uri, use, target: target, reportingTo: id)
    } catch {
      let isFull = (error as? PhoneError) == .tooManyCalls
      let end = isFull ? CallEnd.busy(code: 486) : CallEnd(error)
      let (status, reason) = Self.outcome(of: end)
      await agent.reportTransfer(id, status: status, reason: reason)
      throw error
    }
  }

  /// Declines a transfer that the far side of a call has asked for; the call goes on.
  ///
  /// Throws a `PhoneError` if nothing was asked for.
  public func declineTransfer(_ uuid: UUID) async throws {
    if requestLeft?.call == uuid { return requestLeft = nil }
    let (id, _) = try takeRequest(uuid)
    await agent.reportTransfer(id, status: 603, reason: "Decline")
  }

  private func takeRequest(_ uuid: UUID) throws -> (SIPCallID, TransferTarget) {
    guard let call = calls[uuid], let target = call.requestedTransfer, let id = control[uuid]?.sip
    else { throw PhoneError.noTransferRequested }
    call.requestedTransfer = nil
    return (id, target)
  }

  /// Notes the target that the far side of a call asks this side to call, and reports it to the
  /// user.
  func note(_ target: TransferTarget, for id: SIPCallID) {
    guard let call = control.call(of: id) else { return }
    calls[call.uuid]?.requestedTransfer = target
    continuation.yield(.transferRequested(call.uuid, to: target.uri))
  }

  /// Changes the displayed far side of a call, unless it is displayed already.
  func rename(_ id: SIPCallID, to address: String, _ name: String?) {
    guard let call = control.call(of: id) else { return }
    let remote = name.map { "\($0) <\(address)>" } ?? address
    guard call.remote != remote else { return }
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: address)
    update.localizedCallerName = name
    provider.reportCall(with: call.uuid, updated: update)
    control.rename(call.uuid, to: remote)
    continuation.yield(.renamed(call.uuid, to: remote))
  }

  /// Reports the status of a requested call to the far side that asked for it.
  func reportTransfer(of uuid: UUID, status: Int, reason: String) async {
    guard let id = calls[uuid]?.transfer?.id else { return }
    if status >= 200 { calls[uuid]?.transfer = nil }
    await agent.reportTransfer(id, status: status, reason: reason)
  }

  /// Returns the final response that stands for the end of a requested call (RFC 3515 section
  /// 2.4.5).
  static func outcome(of end: CallEnd) -> (status: Int, reason: String) {
    switch end {
    case .refused(let code, let phrase): (code, phrase)
    case .busy(let code): (code, "Busy")
    case .declined: (603, "Decline")
    case .notFound(let code): (code, "Not Found")
    case .noAnswer: (408, "Request Timeout")
    case .noCommonCodec: (488, "Not Acceptable Here")
    case .unreachable: (503, "Service Unavailable")
    case .moved: (302, "Moved Temporarily")
    case .cancelled: (487, "Request Terminated")
    case .notAvailable, .hungUp, .hungUpByFarSide, .transferred, .cancelledByFarSide,
      .answeredElsewhere, .declinedElsewhere, .lost, .securityRefused, .failed:
      (480, "Temporarily Unavailable")
    }
  }

  /// Reports how a requested call has failed, and resumes the call that was interrupted for it.
  func endTransfer(of uuid: UUID, by end: CallEnd) async {
    guard let transfer = calls[uuid]?.transfer else { return }
    let (status, reason) = Self.outcome(of: end)
    await reportTransfer(of: uuid, status: status, reason: reason)
    if let interrupted = transfer.interrupted { resumeLater(interrupted) }
  }

  /// Cancels the replacement by a call, and resumes the call to be replaced unless it was held
  /// before.
  func endReplacement(by uuid: UUID) {
    guard let call = calls[uuid], let old = call.replacement else { return }
    call.replacement = nil
    guard !old.wasHeld else { return }
    resumeLater(old.uuid)
  }

  // The call system has first to take in the end of the call for which it was held. The hold itself
  // may still be on its way here, and the user may be in another call by now.
  private func resumeLater(_ uuid: UUID) {
    let holds = provider.pendingCallActions(of: CXSetHeldCallAction.self, withCall: uuid)
    guard let call = control[uuid], call.isHeld || !holds.isEmpty, control.mayResume(uuid) else {
      return
    }
    Task {
      do {
        try await setHeld(uuid, false)
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  // MARK: The side whose far side changes

  /// Answers an incoming call that replaces one of the user's, without asking the user.
  ///
  /// If the replaced call is on hold, the new one would interrupt another call: then it rings, and
  /// the user decides. The same applies if its caller has a lower trust level, or may have read the
  /// replaced dialog's identifiers on their way.
  func answerReplacing(
    _ uuid: UUID,
    _ replaced: ReplacedCall?,
    _ media: NegotiatedMedia?
  ) async {
    guard let replaced, let old = control.replacement(of: replaced, by: uuid, media) else { return }
    calls[uuid]?.replacement = old
    guard !old.wasHeld, !old.asks else { return }
    // Before the answer: the new far side hears nothing of a user who is muted.
    let mute = old.isMuted ? [CXSetMutedCallAction(call: uuid, muted: true)] : []
    do {
      try await controller.request(CXTransaction(actions: mute + [CXAnswerCallAction(call: uuid)]))
    } catch {
      continuation.yield(.error("\(old.remote) cannot be replaced: \(error)"))
      endReplacement(by: uuid)
    }
  }

  /// Ends the call that another one has replaced, if the new one is established.
  func endReplacedIfEstablished(by uuid: UUID) async {
    if control[uuid]?.establishedAt != nil { await endReplaced(by: uuid) }
  }

  /// Ends the call that another one has replaced, once the new one is encrypted if the old one was.
  ///
  /// The conference of the old call goes on with the new one.
  func endReplaced(by uuid: UUID) async {
    guard let old = calls[uuid]?.replacement, control.isProtected(uuid, like: old.uuid) else {
      return
    }
    calls[uuid]?.replacement = nil
    do {
      try await end(old.uuid)
    } catch {
      // It has ended by itself.
    }
    // They were held for the answer. A conference that was on hold stays so.
    guard !old.wasHeld, let other = old.others.first(where: { control[$0] != nil }) else { return }
    do {
      try await join(uuid, with: other)
    } catch {
      continuation.yield(.error("the conference does not go on: \(error)"))
    }
  }
}
