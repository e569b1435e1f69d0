/// The SHA-256 hash of a certificate, by which an identity is known (RFC 8122 section 5).
public struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  /// Its 32 bytes.
  package let bytes: [UInt8]

  /// The name of the hash in SDP.
  package static let hash = "sha-256"
  private static let length = 32
  private static let digits = Array("0123456789ABCDEF")
  /// Number of words in `words`, one for each of the first bytes: 80 bits.
  private static let wordCount = 10

  /// The fingerprint of the given bytes; nil if they are not 32.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// Parses pairs of hexadecimal digits with colons between, as in SDP; nil if the text is not a
  /// fingerprint.
  public init?(_ text: String) {
    let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
    guard pairs.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
      return nil
    }
    self.init(bytes: pairs.compactMap { UInt8($0, radix: 16) })
  }

  /// Parses the value of SDP's attribute `fingerprint`; nil if it has another hash, or no
  /// fingerprint.
  package init?(attribute: String) {
    let parts = attribute.split(separator: " ")
    guard parts.count == 2, parts[0].lowercased() == Self.hash else { return nil }
    self.init(String(parts[1]))
  }

  /// The value of SDP's attribute `fingerprint`.
  package var attribute: String { "\(Self.hash) \(self)" }

  /// Pairs of hexadecimal digits with colons between.
  public var description: String {
    bytes.map { String([Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]]) }
      .joined(separator: ":")
  }

  /// Ten words for the first ten bytes, for people to compare by reading them out.
  public var words: String {
    WordList.words(for: bytes.prefix(Self.wordCount)).joined(separator: " ")
  }
}
