import CallSecurity
import MediaCore
import RealTime

/// Calls that are given up before they are answered.
extension UserAgent {
  /// Time for a far side to complete the TLS handshake; RFC 3261 would wait for 32 s.
  private static let handshakePatience = Duration.seconds(5)

  func limitHandshake(of id: SIPCallID) {
    Task { [weak self] in
      try? await Task.sleep(for: Self.handshakePatience)
      await self?.endHandshake(of: id)
    }
  }

  /// Ends a call whose far side is not proven to be the expected one.
  func endStrange(_ id: SIPCallID) {
    guard let call = calls[id.rawValue] else { return }
    call.hangUp()
    report(.ended(id, .strangeIdentity))
  }

  private func endHandshake(of id: SIPCallID) {
    guard let call = calls[id.rawValue], call.isInHandshake else { return }
    call.hangUp()
    report(.ended(id, .unreachable("it does not finish the handshake of TLS")))
  }

  /// Makes `stop` wait for the responses to an outgoing call that ends before it is established.
  ///
  /// A CANCEL has to wait for a provisional response, and a 200 that crosses it needs a BYE (RFC
  /// 3261 section 9.1); otherwise the far side's phone would ring on.
  func noteFarewell(to call: SIPCall) {
    guard !call.isIncoming, !call.isEstablished else { return }
    let patience = call.isHeardOf ? Self.ringingPatience : Self.silentPatience
    lastFarewell = max(lastFarewell, MonotonicClock.now().advanced(byNanoseconds: patience))
  }

  /// Time to wait for responses after an outgoing call is given up, in nanoseconds: if the far side
  /// has responded before, and if it has not.
  private static let (ringingPatience, silentPatience): (Int64, Int64) =
    (5_000_000_000, 2_000_000_000)
}
