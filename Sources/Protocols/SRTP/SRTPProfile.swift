/// A cipher and its authentication for SRTP and SRTCP, which both sides have to agree on.
public enum SRTPProfile: Equatable, Sendable, CaseIterable {
  /// AES-128 in Galois/Counter Mode with a tag of 16 bytes (RFC 7714).
  case aeadAES128GCM
  /// AES-128 in counter mode with HMAC-SHA1, a tag of 10 bytes (RFC 3711), for older phones.
  case aes128CMSHA1Tag80
  /// The same with a tag of 4 bytes on packets of RTP, for phones that have no other.
  case aes128CMSHA1Tag32

  /// The profile's name in SDP (RFC 4568 section 6.2, RFC 7714 section 14.1).
  public var name: String {
    switch self {
    case .aeadAES128GCM: "AEAD_AES_128_GCM"
    case .aes128CMSHA1Tag80: "AES_CM_128_HMAC_SHA1_80"
    case .aes128CMSHA1Tag32: "AES_CM_128_HMAC_SHA1_32"
    }
  }

  /// The profile's number in DTLS (RFC 5764 section 4.1.2, RFC 7714 section 14.2).
  package var number: UInt16 {
    switch self {
    case .aeadAES128GCM: 7
    case .aes128CMSHA1Tag80: 1
    case .aes128CMSHA1Tag32: 2
    }
  }

  /// Bytes of a master key.
  package var keyLength: Int { 16 }

  /// Bytes of a master salt.
  package var saltLength: Int { self == .aeadAES128GCM ? 12 : 14 }

  /// Bytes that protection adds to a packet of RTP, and the tag's share of what it adds to RTCP,
  /// whose tag is never shortened (RFC 4568 section 6.2.2).
  func tagLength(of kind: SRTPSessionKeys.Kind) -> Int {
    switch self {
    case .aeadAES128GCM: 16
    case .aes128CMSHA1Tag80: 10
    case .aes128CMSHA1Tag32: kind == .media ? 4 : 10
    }
  }
}
