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

  private static let count = Atomic<Int>(0)

  /// No other expectation of the process has it.
  let number = count.add(1, ordering: .relaxed).newValue
  private let remembered: PeerRecord.Signalling?
  private let state = Mutex(State())

  /// Expects what is remembered of a far side; nil takes any, and the same from then on.
  package init(_ remembered: PeerRecord.Signalling?) {
    self.remembered = remembered
  }

  /// What has become of it.
  package var verdict: Verdict { state.withLock { $0.verdict } }

  /// What the far side was accepted by, to be remembered; nil before.
  package var proof: PeerRecord.Signalling? { state.withLock { $0.proof } }

  /// True if it is known what the far side has to show.
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
  /// What it has to show.
  package let expectation: TLSExpectation
  /// The name that authorities may vouch for, nil for a numeric address.
  package let host: String?
  /// Its numeric host and its port, nil for a caller, who tells where to send later requests.
  package let destination: String?

  /// A caller by TLS, who tells where later requests go.
  ///
  /// Phones of this kind, which exchange words, have one certificate for signalling and media;
  /// others may show any the first time.
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

/// The expectations of connections that are being opened, by the names that these have in OpenSSL's
/// hands, and what the far sides of connections have shown.
///
/// libre uses a connection again that is there: who has been judged there under another expectation
/// is judged once more before anything is sent.
///
/// **Thread safety:** any thread.
enum TLSExpectations {
  private struct Entry {
    /// It outlives its call, whose goodbye may need a connection.
    let expectation: TLSExpectation
    /// Where the connection goes: host and port, nil if that is not known.
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
  /// More than there are calls at a time, with those that say goodbye.
  private static let capacity = 2_048

  /// A name for the connections of an expectation: the host's, or a made-up one that no certificate
  /// can have; nil if a connection to `destination` is there, whose far side is not as expected.
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

  /// Whether the far side of a connection is accepted.
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
