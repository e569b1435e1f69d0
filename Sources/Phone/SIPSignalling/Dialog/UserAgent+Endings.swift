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

  /// Ends a call whose far side is not the one that it should be.
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

  /// Notes the end of a call, before which its far side may have begun to ring or to talk.
  ///
  /// A CANCEL waits for the first response, and a 200 that crosses it wants a BYE (RFC 3261 section
  /// 9.1): the phone has to learn that the call is over.
  func noteFarewell(to call: SIPCall) {
    guard !call.isIncoming, !call.isEstablished else { return }
    let patience = call.isHeardOf ? Self.ringingPatience : Self.silentPatience
    lastFarewell = max(lastFarewell, MonotonicClock.now().advanced(byNanoseconds: patience))
  }

  /// Time after the end of a call for its far side's last word, in nanoseconds, if it has answered
  /// at all, and if not.
  private static let (ringingPatience, silentPatience): (Int64, Int64) =
    (5_000_000_000, 2_000_000_000)
}
