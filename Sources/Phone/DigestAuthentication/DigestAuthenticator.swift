package import MediaCore

/// Proves to servers and proxies that this side knows the password, without sending it (RFC 3261
/// section 22, RFC 7616, RFC 8760).
///
/// A value without I/O: challenges go in, the headers of the next request come out.
package struct DigestAuthenticator: Equatable, Sendable {
  /// The user name and the password for a realm.
  package struct Login: Equatable, Sendable {
    package let user: String
    package let password: String

    package init(user: String, password: String) {
      self.user = user
      self.password = password
    }
  }

  package enum Failure: Error, Equatable {
    /// The server challenged an answer again: the name or the password is wrong, or more than
    /// `staleLimit` nonces became stale within `stalePeriod`.
    case refused
    /// No challenge can be answered: there is none, or they ask for unknown algorithms or qualities
    /// of protection.
    case unknownAlgorithm
    /// There is no login for the realm, or the terms allow none of the challenges.
    case noLogin
  }

  /// A challenge that is answered in each request from now on.
  private struct Session: Equatable {
    var challenge: DigestChallenge
    var algorithm: DigestAlgorithm
    let login: Login
    /// Number of requests that the nonce was used for.
    var count: UInt32 = 0
    /// Number of stale nonces since `staleSince`, the time of the first.
    var staleRounds = 0
    var staleSince = MonotonicInstant(nanoseconds: 0)

    /// Counts a stale nonce; false after more than `staleLimit` within `stalePeriod`.
    mutating func notesStaleNonce(at now: MonotonicInstant) -> Bool {
      if staleRounds == 0 || now.nanoseconds(since: staleSince) > DigestAuthenticator.stalePeriod {
        (staleRounds, staleSince) = (0, now)
      }
      staleRounds += 1
      return staleRounds <= DigestAuthenticator.staleLimit
    }
  }

  /// Most stale nonces within `stalePeriod` nanoseconds; a server that sends more would do so for
  /// ever.
  private static let staleLimit = 4
  private static let stalePeriod: Int64 = 10_000_000_000

  private var sessions: [Session] = []

  package init() {}

  /// Takes over the challenges of a 401 or 407.
  ///
  /// The server lists the algorithms of a realm by its preference; the first one that is known is
  /// used (RFC 8760 section 2.4).
  ///
  /// - Parameters:
  ///   - challenges: the challenges in the order of the message.
  ///   - now: the time of their arrival.
  ///   - terms: the terms on which a challenge is answered; nil for any.
  ///   - login: finds the name and the password for a realm.
  /// - Throws: `Failure`; challenges taken over before are kept.
  package mutating func take(
    _ challenges: [DigestChallenge],
    at now: MonotonicInstant,
    terms: DigestTerms? = nil,
    login: (_ realm: String) -> Login?
  ) throws(Failure) {
    var answered: [DigestChallenge] = []
    var isStrange = false
    for challenge in challenges where !answered.contains(where: challenge.isFromSamePlace) {
      guard let algorithm = challenge.usableAlgorithm else { continue }
      guard terms?.allows(challenge) ?? true else {
        isStrange = true
        continue
      }
      answered.append(challenge)
      if let index = sessions.firstIndex(where: { challenge.isFromSamePlace(as: $0.challenge) }) {
        let session = sessions[index]
        // Another nonce after one that was taken before: servers with nonces for one request, or
        // that have forgotten them, do not call it stale.
        let isNext = challenge.nonce != session.challenge.nonce && session.count > 1
        guard challenge.isStale || isNext, sessions[index].notesStaleNonce(at: now) else {
          throw .refused
        }
        sessions[index].challenge = challenge
        sessions[index].algorithm = algorithm
        sessions[index].count = 0
      } else {
        guard let login = login(challenge.realm) else { throw .noLogin }
        sessions.append(Session(challenge: challenge, algorithm: algorithm, login: login))
      }
    }
    // Without an answer the same request would be refused again and again.
    guard !answered.isEmpty else { throw isStrange ? .noLogin : .unknownAlgorithm }
  }

  /// Terms of the current challenge of the realm that was added last; nil without one.
  package var terms: DigestTerms? {
    sessions.last.map {
      DigestTerms(
        realm: $0.challenge.realm,
        isStrong: $0.algorithm != .md5,
        hasQuality: $0.challenge.qualities != nil
      )
    }
  }

  /// Forgets all challenges.
  package mutating func reset() { sessions = [] }

  /// Answers the challenges in the next request.
  ///
  /// - Parameters:
  ///   - method: of the request, like `INVITE`.
  ///   - uri: the request's URI.
  ///   - clientNonce: a new one for each request; without quotes.
  /// - Returns: the `Authorization` and `Proxy-Authorization` headers, with their line ends; empty
  ///   without a challenge.
  package mutating func headers(method: String, uri: String, clientNonce: String) -> String {
    var headers = ""
    for index in sessions.indices {
      sessions[index].count += 1
      headers += Self.header(sessions[index], method, uri, clientNonce) ?? ""
    }
    return headers
  }

  private static func header(
    _ session: Session,
    _ method: String,
    _ uri: String,
    _ clientNonce: String
  ) -> String? {
    let (challenge, login) = (session.challenge, session.login)
    let digits = String(session.count, radix: 16)
    let count = String(repeating: "0", count: 8 - digits.count) + digits
    let usesQuality = challenge.qualities != nil
    let middle = usesQuality ? ":\(count):\(clientNonce):auth" : ""
    guard
      let secret = session.algorithm.hash("\(login.user):\(challenge.realm):\(login.password)"),
      let subject = session.algorithm.hash("\(method):\(uri)"),
      let response = session.algorithm.hash("\(secret):\(challenge.nonce)\(middle):\(subject)")
    else { return nil }
    var fields = [
      "username=\"\(login.user)\"", "realm=\"\(challenge.realm)\"",
      "nonce=\"\(challenge.nonce)\"", "uri=\"\(uri)\"", "response=\"\(response)\"",
    ]
    // Servers of before RFC 2617 know no such field, and have not named it.
    if challenge.algorithm != nil { fields.append("algorithm=\(session.algorithm.rawValue)") }
    if let opaque = challenge.opaque { fields.append("opaque=\"\(opaque)\"") }
    if usesQuality { fields += ["cnonce=\"\(clientNonce)\"", "qop=auth", "nc=\(count)"] }
    let name = challenge.isFromProxy ? "Proxy-Authorization" : "Authorization"
    return "\(name): Digest \(fields.joined(separator: ", "))\r\n"
  }
}
