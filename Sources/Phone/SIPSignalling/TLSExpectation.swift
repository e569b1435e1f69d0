import CLibre
package import CallSecurity
import Synchronization

/// What the far side of a TLS connection has to show, and what it has shown.
///
/// A far side that is called directly is known by its identity, as ssh knows hosts. A server with a
/// name may also be vouched for by the system's authorities.
///
/// **Thread safety:** any thread; libre's asks it during the handshake.
package final class TLSExpectation: Sendable {
  /// What has become of it.
  package enum Verdict: Equatable, Sendable {
    /// There was no handshake yet.
    case pending
    /// The far side is whom it should be.
    case accepted
    /// The far side has another certificate.
    case refused
  }

  private struct State {
    var verdict = Verdict.pending
    var proof: PeerRecord.Signalling?
  }

  private let remembered: PeerRecord.Signalling?
  private let state = Mutex(State())

  /// Expects what is remembered of a far side; nil takes any.
  package init(_ remembered: PeerRecord.Signalling?) {
    self.remembered = remembered
  }

  /// What has become of it.
  package var verdict: Verdict { state.withLock { $0.verdict } }

  /// What the far side was accepted by, to be remembered; nil before.
  package var proof: PeerRecord.Signalling? { state.withLock { $0.proof } }

  func judge(_ shown: Fingerprint, isTrusted: Bool) -> Bool {
    let isAccepted =
      switch remembered {
      case nil: true
      case .certificate(let fingerprint): fingerprint == shown || isTrusted
      case .authority: isTrusted
      }
    state.withLock { state in
      state.verdict = isAccepted ? .accepted : .refused
      if isAccepted { state.proof = isTrusted ? .authority : .certificate(shown) }
    }
    return isAccepted
  }
}

/// The expectations of connections that are being opened, by the names that these have in OpenSSL's
/// hands.
///
/// **Thread safety:** used on libre's thread.
enum TLSExpectations {
  private struct Table {
    var waiting: [String: TLSExpectation] = [:]
    var count = 0
  }

  private static let table = Mutex(Table())
  /// Handshakes that never end are forgotten, the oldest first.
  private static let capacity = 256

  /// A name for the connections of an expectation: the host's, or a made-up one that no certificate
  /// can have.
  static func register(_ expectation: TLSExpectation, host: String?) -> String {
    table.withLock { table in
      table.count += 1
      let token = host ?? "#\(table.count)"
      if table.waiting.count >= capacity { table.waiting.removeAll() }
      table.waiting[token] = expectation
      return token
    }
  }

  /// Whether the far side of a connection is accepted.
  static func judge(
    isServer: Bool,
    token: String?,
    _ fingerprint: Fingerprint,
    isTrusted: Bool
  ) -> Bool {
    // Callers are known by their media's certificate, which the call compares.
    if isServer { return true }
    guard let token else { return true }
    guard let expectation = table.withLock({ $0.waiting[token] }) else { return isTrusted }
    return expectation.judge(fingerprint, isTrusted: isTrusted)
  }
}
