import CCrypto

/// A hash that a server may ask for (RFC 7616 section 3.2, RFC 8760).
package enum DigestAlgorithm: String, CaseIterable, Equatable, Sendable {
  case md5 = "MD5"
  case sha256 = "SHA-256"
  case sha512Truncated = "SHA-512-256"

  /// The algorithm that a challenge names, MD5 if it names none; nil for one that is not known.
  init?(named name: String?) {
    guard let name else {
      self = .md5
      return
    }
    let found = Self.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
    guard let found else { return nil }
    self = found
  }

  /// Returns the hash of a text in lower-case hexadecimal digits; nil if OpenSSL refuses the
  /// algorithm, as it refuses MD5 in FIPS mode.
  func hash(_ text: String) -> String? {
    let digest =
      switch self {
      case .md5: unsafe EVP_md5()
      case .sha256: unsafe EVP_sha256()
      case .sha512Truncated: unsafe EVP_sha512_256()
      }
    let bytes = Array(text.utf8)
    var result = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var length: CUnsignedInt = 0
    guard unsafe EVP_Digest(bytes, bytes.count, &result, &length, digest, nil) == 1 else {
      return nil
    }
    return result.prefix(Int(length)).map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }
    .joined()
  }
}
