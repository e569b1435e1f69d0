import MediaCore
import Testing

@testable import SRTP

/// The published examples, through our calls of OpenSSL.
struct SRTPVectorTests {
  private static let gcmKeys = SRTPSessionKeys(
    cipherKey: Array(0..<16),
    authenticationKey: [UInt8](repeating: 0, count: 20),
    salt: bytes("517569642070726f2071756f")
  )

  /// RFC 3711 appendix B.2.
  @Test func theKeyStreamIsThatOfTheExample() throws {
    let cipher = try SRTPCounterCipher(key: bytes("2b7e151628aed2a6abf7158809cf4f3c"))
    let stream = try cipher.keyStream(from: bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfd0000"), count: 48)
    #expect(
      stream
        == bytes(
          "e03ead0935c95e80e166b16dd92b4eb4d23513162b02d0f72a43a2fe4a5f97ab"
            + "41e95b3bb0a2e8dd477901e4fca894c0"
        )
    )
  }

  /// RFC 3711 appendix B.3.
  @Test func theSessionKeysAreThoseOfTheExample() throws {
    let master = try #require(
      SRTPMasterKey(
        key: bytes("e1f97a0d3e018be0d64fa32c06de4139"),
        salt: bytes("0ec675ad498afeebb6960b3aabe6"),
        for: .aes128CMSHA1Tag80
      )
    )
    let keys = try SRTPSessionKeys(from: master, .media)
    #expect(keys.cipherKey == bytes("c61e7a93744f39ee10734afe3ff7a087"))
    #expect(keys.salt == bytes("30cbbc08863d8c85d49db34a9ae1"))
    #expect(keys.authenticationKey == bytes("cebe321f6ff7716b6fd4ab49af256a156d38baa4"))
  }

  /// RFC 7714 section 16.1.
  @Test func anRTPPacketUnderGCMIsThatOfTheExample() throws {
    let plain = bytes(
      "8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e69732064697669736120696e20706172746573"
        + "207472" + "6573"
    )
    let protected = bytes(
      "8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36"
        + "de3adf8833899d7f27beb16a9152cf765ee4390cce"
    )
    try Self.check(plain, protected)
  }

  /// RFC 7714 section 17.1.
  @Test func anRTCPPacketUnderGCMIsThatOfTheExample() throws {
    let plain = bytes(
      "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61"
        + "deadbeefdeadbeefdeadbeefdeadbeefdeadbeef"
    )
    let protected = bytes(
      "81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b46"
        + "86303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade800005d4"
    )
    try Self.check(plain, protected, controlIndex: 0x5d4)
  }

  private static func ciphers(isSealing: Bool) throws -> SRTPCiphers {
    try SRTPCiphers(.aeadAES128GCM, media: gcmKeys, control: gcmKeys, isSealing: isSealing)
  }

  private static func check(
    _ plain: [UInt8],
    _ protected: [UInt8],
    controlIndex: UInt32 = 0
  ) throws {
    var sender = SRTPSender(try ciphers(isSealing: true))
    sender.nextControl = controlIndex
    var datagram = ByteBuffer(repeating: 0, count: 200)
    fill(&datagram, with: plain)
    let length = sender.protect(&datagram, length: plain.count)
    #expect(length == protected.count)
    #expect(contents(of: datagram, length ?? 0) == protected)

    var receiver = SRTPReceiver(try ciphers(isSealing: false))
    let opened = receiver.unprotect(&datagram, length: protected.count)
    #expect(contents(of: datagram, opened ?? 0) == plain)
  }
}
