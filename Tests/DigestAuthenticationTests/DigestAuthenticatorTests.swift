import CLibre
import MediaCore
import Testing

@testable import DigestAuthentication

/// Answers to challenges, with the vectors of the standards.
struct DigestAuthenticatorTests {
  private var authenticator = DigestAuthenticator()
  private let start = MonotonicInstant(nanoseconds: 0)

  private static let mufasa = DigestAuthenticator.Login(user: "Mufasa", password: "Circle of Life")

  private static func challenge(
    _ algorithm: String?,
    realm: String = "http-auth@example.org",
    nonce: String = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  ) -> DigestChallenge {
    var challenge = DigestChallenge(realm: realm, nonce: nonce)
    challenge.algorithm = algorithm
    challenge.qualities = "auth, auth-int"
    challenge.opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    return challenge
  }

  private mutating func headers(method: String = "GET", uri: String = "/dir/index.html") -> String {
    authenticator.headers(
      method: method,
      uri: uri,
      clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    )
  }

  /// A far side, or a proxy on the path, is answered only on terms as strong as the server's.
  @Test(
    arguments: [
      ("SHA-256", "http-auth@example.org", "auth", true),
      ("SHA-512-256", "http-auth@example.org", "auth", true),
      ("SHA-256", "elsewhere.example", "auth", false),
      ("MD5", "http-auth@example.org", "auth", false),
      (nil, "http-auth@example.org", "auth", false),
      ("SHA-256", "http-auth@example.org", nil, false),
    ] as [(String?, String, String?, Bool)]
  )
  func othersGetNoMoreThanTheServer(
    algorithm: String?,
    realm: String,
    qualities: String?,
    isAnswered: Bool
  ) throws {
    var server = DigestAuthenticator()
    try server.take([Self.challenge("SHA-256")], at: start) { _ in Self.mufasa }
    let terms = try #require(server.terms)
    #expect(terms == DigestTerms(realm: "http-auth@example.org", isStrong: true, hasQuality: true))
    var other = DigestAuthenticator()
    var challenge = Self.challenge(algorithm, realm: realm)
    challenge.qualities = qualities
    challenge.isFromProxy = true
    if isAnswered {
      try other.take([challenge], at: start, terms: terms) { _ in Self.mufasa }
    } else {
      #expect(throws: DigestAuthenticator.Failure.noLogin) {
        try other.take([challenge], at: start, terms: terms) { _ in Self.mufasa }
      }
    }
    let headers = other.headers(method: "INVITE", uri: "sip:bob@example.org", clientNonce: "1")
    #expect(headers.isEmpty != isAnswered)
  }

  /// A stale nonce does not permit a weaker hash.
  @Test func staleNonceChangesNoTerms() throws {
    let terms = DigestTerms(realm: "http-auth@example.org", isStrong: true, hasQuality: true)
    var other = DigestAuthenticator()
    try other.take([Self.challenge("SHA-256")], at: start, terms: terms) { _ in Self.mufasa }
    var stale = Self.challenge("MD5", nonce: "2")
    stale.isStale = true
    #expect(throws: DigestAuthenticator.Failure.noLogin) {
      try other.take([stale], at: start, terms: terms) { _ in Self.mufasa }
    }
  }

  /// Challenges of an old server that knows MD5 alone are still answered.
  @Test func termsOfAnOldServerAreMD5() throws {
    let terms = DigestTerms(realm: "http-auth@example.org", isStrong: false, hasQuality: false)
    var other = DigestAuthenticator()
    var challenge = Self.challenge(nil)
    challenge.qualities = nil
    try other.take([challenge], at: start, terms: terms) { _ in Self.mufasa }
    #expect(!other.headers(method: "BYE", uri: "sip:a@b", clientNonce: "1").isEmpty)
  }

  /// Example of RFC 7616 section 3.9.1.
  @Test(
    arguments: [
      ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
      ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ]
  )
  mutating func standardsExampleIsAnsweredAsItSays(algorithm: String, response: String) throws {
    try authenticator.take([Self.challenge(algorithm)], at: start) { _ in Self.mufasa }
    let headers = headers()
    #expect(headers.hasPrefix("Authorization: Digest username=\"Mufasa\", realm="))
    #expect(headers.contains("response=\"\(response)\""))
    #expect(headers.contains("algorithm=\(algorithm)") && headers.contains("nc=00000001"))
    #expect(headers.hasSuffix("\r\n"))
  }

  /// Example of RFC 2617 section 3.5 without `algorithm`, and one without `qop` (RFC 2069).
  @Test mutating func oldServersAreAnswered() throws {
    var challenge = DigestChallenge(
      realm: "testrealm@host.com",
      nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093"
    )
    challenge.qualities = "auth"
    let login = DigestAuthenticator.Login(user: "Mufasa", password: "Circle Of Life")
    try authenticator.take([challenge], at: start) { _ in login }
    let answer = authenticator.headers(
      method: "GET",
      uri: "/dir/index.html",
      clientNonce: "0a4f113b"
    )
    #expect(answer.contains("response=\"6629fae49393a05397450978507c4ef1\""))
    #expect(!answer.contains("algorithm"))
    challenge.qualities = nil
    authenticator.reset()
    try authenticator.take([challenge], at: start) { _ in login }
    #expect(headers().contains("response=\"670fd8c2df070c60b045671b8b24ff02\""))
  }

  /// The server's order of algorithms counts (RFC 8760 section 2.4).
  @Test mutating func firstKnownAlgorithmIsUsed() throws {
    let listed = ["SHA-512-256-sess", "SHA-256", "MD5"].map { Self.challenge($0) }
    try authenticator.take(listed, at: start) { _ in Self.mufasa }
    let headers = headers()
    #expect(headers.split(separator: "\r\n").count == 1)
    #expect(headers.contains("algorithm=SHA-256,"))
  }

  @Test mutating func everyPlaceOnTheWayIsAnswered() throws {
    var proxy = Self.challenge("MD5", realm: "proxy.example")
    proxy.isFromProxy = true
    try authenticator.take([Self.challenge("sha-256"), proxy], at: start) { _ in Self.mufasa }
    let headers = headers()
    #expect(headers.contains("\r\nProxy-Authorization: Digest username=\"Mufasa\", realm=\"proxy"))
    #expect(headers.contains("algorithm=SHA-256,"))
  }

  @Test mutating func wrongPasswordIsNotTriedAgain() throws {
    try authenticator.take([Self.challenge("SHA-256")], at: start) { _ in Self.mufasa }
    #expect(throws: DigestAuthenticator.Failure.refused) {
      try authenticator.take([Self.challenge("SHA-256")], at: start) { _ in Self.mufasa }
    }
    authenticator.reset()
    #expect(headers() == "")
  }

  @Test mutating func oldNonceIsReplaced() throws {
    try authenticator.take([Self.challenge("SHA-256")], at: start) { _ in Self.mufasa }
    _ = headers()
    #expect(headers().contains("nc=00000002"))
    var next = Self.challenge("SHA-256", nonce: "next")
    next.isStale = true
    try authenticator.take([next], at: start) { _ in Self.mufasa }
    let headers = headers()
    #expect(headers.contains("nonce=\"next\"") && headers.contains("nc=00000001"))
  }

  /// Servers whose nonces are for one request do not call the last one stale.
  @Test mutating func nextNonceIsAnswered() throws {
    var challenge = Self.challenge("SHA-256")
    try authenticator.take([challenge], at: start) { _ in Self.mufasa }
    // INVITE and ACK, then BYE.
    for _ in 0..<3 { _ = headers() }
    challenge.nonce = "another"
    try authenticator.take([challenge], at: start) { _ in Self.mufasa }
    #expect(headers().contains("nonce=\"another\""))
    // Refused with the nonce that was just given, it is the password.
    challenge.nonce = "third"
    #expect(throws: DigestAuthenticator.Failure.refused) {
      try authenticator.take([challenge], at: start) { _ in Self.mufasa }
    }
  }

  /// A refusal without a challenge is an error, or libre would repeat the request endlessly.
  @Test mutating func refusalWithoutAChallengeIsFinal() {
    #expect(throws: DigestAuthenticator.Failure.unknownAlgorithm) {
      try authenticator.take([], at: start) { _ in Self.mufasa }
    }
  }

  @Test mutating func serverThatFindsEveryNonceTooOldIsGivenUp() throws {
    var challenge = Self.challenge("SHA-256")
    try authenticator.take([challenge], at: start) { _ in Self.mufasa }
    challenge.isStale = true
    func later(_ seconds: Int) -> MonotonicInstant { start.advanced(by: .seconds(seconds)) }
    for _ in 0..<4 { try authenticator.take([challenge], at: start) { _ in Self.mufasa } }
    #expect(throws: DigestAuthenticator.Failure.refused) {
      try authenticator.take([challenge], at: later(9)) { _ in Self.mufasa }
    }
    // Once an hour is no loop.
    for hour in 1..<20 {
      try authenticator.take([challenge], at: later(hour * 3_600)) { _ in Self.mufasa }
    }
  }

  @Test mutating func unknownAlgorithmsAndRealmsAreNamed() {
    #expect(throws: DigestAuthenticator.Failure.unknownAlgorithm) {
      try authenticator.take([Self.challenge("AKAv1-MD5")], at: start) { _ in Self.mufasa }
    }
    var signed = Self.challenge("MD5")
    signed.qualities = "auth-int"
    #expect(throws: DigestAuthenticator.Failure.unknownAlgorithm) {
      try authenticator.take([signed], at: start) { _ in Self.mufasa }
    }
    #expect(throws: DigestAuthenticator.Failure.noLogin) {
      try authenticator.take([Self.challenge("MD5")], at: start) { _ in nil }
    }
    #expect(headers() == "")
  }

  /// This module replaces libre's functions of the same names, which know MD5 alone.
  @Test func functionsOfLibreAreReplaced() {
    var state: OpaquePointer?
    let code = unsafe sip_auth_alloc(&state, nil, nil, false)
    defer { _ = unsafe mem_deref(UnsafeMutableRawPointer(state)) }
    #expect(code == 0)
    guard let message = unsafe Self.message() else {
      Issue.record("the message cannot be read")
      return
    }
    defer { _ = unsafe mem_deref(message) }
    // Only this module tells an unknown password from a wrong one.
    let refusal = unsafe sip_auth_authenticate(state, message)
    #expect(refusal == EACCES)
  }

  @unsafe
  private static func message() -> UnsafeMutablePointer<sip_msg>? {
    let text =
      "SIP/2.0 401 Unauthorized\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1\r\n"
      + "To: <sip:a@example.org>;tag=1\r\nFrom: <sip:a@example.org>;tag=2\r\nCall-ID: 3\r\n"
      + "CSeq: 1 REGISTER\r\n"
      + "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, qop=\"auth\"\r\n"
      + "Content-Length: 0\r\n\r\n"
    let bytes = Array(text.utf8)
    let buffer = unsafe re_buffer_from(bytes, bytes.count)
    defer { _ = unsafe mem_deref(buffer) }
    var message: UnsafeMutablePointer<sip_msg>?
    let code = unsafe sip_msg_decode(&message, buffer)
    return code == 0 ? unsafe message : nil
  }
}
