import CallSecurity
import Testing

@testable import SIPSignalling

/// Certificates that are expected of the far sides of TLS connections.
struct TLSExpectationTests {
  private static func fingerprint() throws -> Fingerprint {
    try #require(Fingerprint(bytes: (0..<32).map { _ in .random(in: 0...255) }))
  }

  /// libre opens some connections by itself, without the name of an expectation.
  @Test func connectionWithoutANameGoesToWhomWasAcceptedBefore() throws {
    let (known, other) = (try Self.fingerprint(), try Self.fingerprint())
    func isAccepted(_ token: String?, _ shown: Fingerprint, isTrusted: Bool) -> Bool {
      TLSExpectations.judge(isServer: false, token: token, shown, isTrusted: isTrusted)
    }
    #expect(!isAccepted(nil, known, isTrusted: false) && !isAccepted(nil, known, isTrusted: true))
    // Of a caller it is not known beforehand where later requests go.
    let expectation = TLSExpectation(nil)
    let token = TLSExpectations.register(expectation, host: nil, destination: nil)
    #expect(isAccepted(token, known, isTrusted: false) && expectation.isBound)
    #expect(isAccepted(nil, known, isTrusted: false))
    #expect(!isAccepted(nil, other, isTrusted: true), "authorities vouch for anybody")
    #expect(!isAccepted(token, other, isTrusted: false), "the first certificate counts")
    #expect(expectation.verdict == .refused)
  }

  @Test func authorityMayReplaceACertificate() throws {
    let expectation = TLSExpectation(.certificate(try Self.fingerprint()))
    let other = try Self.fingerprint()
    #expect(expectation.isBound && !expectation.judge(other, isTrusted: false))
    #expect(expectation.judge(other, isTrusted: true) && expectation.proof == .authority)
    #expect(!TLSExpectation(.authority).judge(other, isTrusted: false))
  }

  /// A phone that exchanges words uses the certificate of its media for signalling as well.
  @Test(arguments: [true, false])
  func callerShowsTheCertificateOfItsMedia(exchangesWords: Bool) throws {
    let (own, other) = (try Self.fingerprint(), try Self.fingerprint())
    let media = NegotiatedEncryption(
      fingerprint: own,
      beginner: .local,
      exchangesWords: exchangesWords
    )
    let expectation = SecurePeer.caller(with: media).expectation
    #expect(expectation.isBound == exchangesWords)
    #expect(expectation.judge(other, isTrusted: false) != exchangesWords)
    #expect(!SecurePeer.caller(with: nil).expectation.isBound)
  }
}
