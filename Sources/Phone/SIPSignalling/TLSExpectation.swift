import CLibre
package import CallSecurity
import Synchronization

/// The certificate that the far side of a TLS connection must present, and the result of the check.
///
/// A far side that is called directly is recognized by its certificate, as SSH recognizes hosts. A
/// server with a name may also be vouched for by the system's certificate authorities.
///
/// **Thread safety:** any thread; libre's thread checks certificates during the handshake.
package final class TLSExpectation: Sendable {
  /// The result of the check of a certificate.
  package enum Verdict: Equatable, Sendable {
    /// There has been no handshake yet.
    case pending
    /// The far side is the expected one.
    case accepted
    /// The far side presented another certificate.
    case refused
  }

  private struct State {
    var verdict = Verdict.pending
    var proof: PeerRecord.Signalling?
  }

  private static let count = Atomic<Int>(0)

  /// Number that no other expectation in the process has.
  let number = count.add(1, ordering: .relaxed).newValue
  private let remembered: PeerRecord.Signalling?
  private let state = Mutex(State())

  /// Expects the remembered certificate or authority; nil accepts any far side at first, and only
  /// the same one from then on.
  package init(_ remembered: PeerRecord.Signalling?) {
    self.remembered = remembered
  }

  /// The result of the latest check.
  package var verdict: Verdict { state.withLock { $0.verdict } }

  /// Proof by which the far side was accepted last, to be remembered: its certificate, or that an
  /// authority vouched for it; nil before.
  package var proof: PeerRecord.Signalling? { state.withLock { $0.proof } }

  /// True if a particular far side is expected; false while any is accepted.
  var isBound: Bool { remembered != nil || proof != nil }

  func judge(_ shown: Fingerprint, isTrusted: Bool) -> Bool {
    state.withLock { state in
      let isAccepted =
        switch remembered ?? state.proof {
        case nil: true
        case .certificate(let fingerprint): fingerprint == shown || isTrusted
        case .authority: isTrusted
        }
      state.verdict = isAccepted ? .accepted : .refused
      if isAccepted { state.proof = isTrusted ? .authority : .certificate(shown) }
      return isAccepted
    }
  }
}

/// The far side of a call whose signalling is encrypted.
package struct SecurePeer: Sendable {
  /// The certificate that it must present.
  package let expectation: TLSExpectation
  /// The host name that authorities may vouch for; nil for a numeric address.
  package let host: String?
  /// Numeric host and port of the far side; nil for a caller, whose messages name the destination
  /// of later requests.
  package let destination: String?

  /// The far side of an incoming call by TLS.
  ///
  /// A Sidetone, which exchanges words, uses one certificate for signalling and media, so this one
  /// is expected. Other phones may present any certificate the first time.
  static func caller(with encryption: NegotiatedEncryption?) -> SecurePeer {
    let known = encryption.flatMap {
      $0.exchangesWords ? PeerRecord.Signalling.certificate($0.fingerprint) : nil
    }
    return SecurePeer(TLSExpectation(known), host: nil, destination: nil)
  }

  /// A far side at a destination.
  package init(_ expectation: TLSExpectation, host: String?, destination: String?) {
    self.expectation = expectation
    self.host = host
    self.destination = destination
  }
}

/// The expectations for TLS connections, by the host names that OpenSSL checks certificates
/// against, and the certificates that far sides have presented.
///
/// libre reuses existing connections: a far side that was accepted under another expectation is
/// checked again before anything is sent.
enum TLSExpectations {
  private struct Entry {
    /// Kept after the end of its call, whose BYE may need a connection.
    let expectation: TLSExpectation
    /// Host and port that the connection leads to; nil if they are not known.
    let destination: String?
  }

  private struct Shown {
    let fingerprint: Fingerprint
    let isTrusted: Bool
  }

  private struct Table {
    var entries: [String: Entry] = [:]
    var shown: [String: Shown] = [:]
  }

  private static let table = Mutex(Table())
  /// Maximum number of entries, more than there are calls at a time, including those that send BYE.
  private static let capacity = 2_048

  /// Returns the host name under which connections for an expectation are checked; nil if there is
  /// a connection to `destination` whose far side is not the expected one.
  ///
  /// The name is `host`, or a made-up one that no certificate can have.
  static func register(
    _ expectation: TLSExpectation,
    host: String?,
    destination: String?
  ) -> String? {
    let token = host ?? "#\(expectation.number)"
    let shown = table.withLock { table in
      // The oldest calls are over.
      if table.entries.count >= capacity {
        let oldest = table.entries.min { $0.value.expectation.number < $1.value.expectation.number }
        if let oldest { table.entries[oldest.key] = nil }
      }
      table.entries[token] = Entry(expectation: expectation, destination: destination)
      return destination.flatMap { table.shown[$0] }
    }
    guard let shown else { return token }
    // An authority vouches for a name, which may be another one this time.
    let isAccepted = expectation.judge(shown.fingerprint, isTrusted: shown.isTrusted && host != nil)
    return isAccepted ? token : nil
  }

  /// Returns true if the far side of a connection is accepted.
  static func judge(
    isServer: Bool,
    token: String?,
    _ fingerprint: Fingerprint,
    isTrusted: Bool
  ) -> Bool {
    // Callers are known by their media's certificate, which the call compares.
    if isServer { return true }
    return table.withLock { table in
      guard let token, let entry = table.entries[token] else {
        // What libre sends on its own goes to those alone who were accepted before. Without a name
        // an authority vouches for anybody.
        return table.shown.values.contains { $0.fingerprint == fingerprint }
      }
      let isAccepted = entry.expectation.judge(fingerprint, isTrusted: isTrusted)
      // Any will do where there are too many.
      if table.shown.count >= capacity, let any = table.shown.keys.first { table.shown[any] = nil }
      table.shown[entry.destination ?? token] =
        isAccepted ? Shown(fingerprint: fingerprint, isTrusted: isTrusted) : nil
      return isAccepted
    }
  }
}
