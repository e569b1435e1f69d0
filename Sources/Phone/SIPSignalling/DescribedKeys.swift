import CLibre
import SRTP

/// A key for the media that its sender sends, from the SDP attribute `crypto` (SDES, RFC 4568).
struct DescribedKey: Equatable {
  let tag: Int
  let profile: SRTPProfile
  let key: SRTPMasterKey

  init(tag: Int, _ profile: SRTPProfile, _ key: SRTPMasterKey) {
    self.tag = tag
    self.profile = profile
    self.key = key
  }

  /// Parses an attribute's value; nil if it is damaged or not supported.
  ///
  /// Not supported are unknown ciphers, several keys, and session parameters other than a replay
  /// window of 64 packets or more (`WSH`, RFC 4568 section 6.3.6) and optional ones, which begin
  /// with a dash.
  init?(attribute: String) {
    let parts = attribute.split(separator: " ")
    guard parts.count >= 3,
      parts.dropFirst(3).allSatisfy(Self.mayBeIgnored),
      let tag = Int(parts[0]), (0...999_999_999).contains(tag),
      let profile = SRTPProfile.allCases.first(where: { $0.name == parts[1] }),
      parts[2].hasPrefix("inline:"), !parts[2].contains(";")
    else { return nil }
    // Beside the key there may be a lifetime, which no call outlasts, and an identifier, which has
    // a colon.
    var fields = parts[2].dropFirst("inline:".count).split(separator: "|")
    var identifier: [UInt8]? = []
    if fields.count > 1, let last = fields.last, last.contains(":") {
      identifier = Self.identifier(last)
      fields.removeLast()
    }
    guard let text = fields.first, fields.count <= 2, fields.allSatisfy({ !$0.contains(":") }),
      let identifier,
      let bytes = Self.decode(String(text)), bytes.count >= profile.keyLength,
      let key = SRTPMasterKey(
        key: Array(bytes[..<profile.keyLength]),
        salt: Array(bytes[profile.keyLength...]),
        identifier: identifier,
        for: profile
      )
    else { return nil }
    self.init(tag: tag, profile, key)
  }

  /// Parses an identifier, `VALUE:BYTES` (RFC 4568 section 6.1); nil if it is damaged.
  private static func identifier(_ text: Substring) -> [UInt8]? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = Int(parts[1]), (1...128).contains(length),
      let value = UInt64(parts[0]), length >= 8 || value >> (8 * UInt64(length)) == 0
    else { return nil }
    return (0..<length).map { place in
      let shift = 8 * (length - 1 - place)
      return shift < 64 ? UInt8(truncatingIfNeeded: value >> UInt64(shift)) : 0
    }
  }

  private static func mayBeIgnored(_ parameter: Substring) -> Bool {
    let number = parameter.dropFirst(4)
    return parameter.hasPrefix("-")
      || parameter.hasPrefix("WSH=") && number.allSatisfy(\.isNumber)
        && UInt16(number).map { $0 >= 64 } ?? false
  }

  /// The attribute's value; nil if memory runs out.
  var attribute: String? {
    key.withBytes { Self.encode($0) }.map { "\(tag) \(profile.name) inline:\($0)" }
  }

  private static func decode(_ text: String) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: text.utf8.count)
    var length = bytes.count
    guard unsafe base64_decode(text, text.utf8.count, &bytes, &length) == 0 else { return nil }
    return Array(bytes[..<length])
  }

  private static func encode(_ bytes: [UInt8]) -> String? {
    var text = [CChar](repeating: 0, count: 4 * bytes.count / 3 + 8)
    var length = text.count
    guard unsafe base64_encode(bytes, bytes.count, &text, &length) == 0 else { return nil }
    return String(cStringBytes: Array(text[..<length]))
  }
}

/// The keys that this side describes, and the choice between them by offer and answer.
struct DescribedKeys {
  /// Keys of this side, one for each cipher, best first.
  let own: [DescribedKey]

  /// Draws a random key for each cipher.
  init() throws(SRTPError) {
    own = [
      DescribedKey(tag: 1, .aeadAES128GCM, try .random(for: .aeadAES128GCM)),
      DescribedKey(tag: 2, .aes128CMSHA1Tag80, try .random(for: .aes128CMSHA1Tag80)),
      DescribedKey(tag: 3, .aes128CMSHA1Tag32, try .random(for: .aes128CMSHA1Tag32)),
    ]
  }

  /// Returns the key to answer with and the keys that are agreed on then; nil if the sides have no
  /// cipher in common.
  func answer(to offered: [DescribedKey]) -> (answer: DescribedKey, agreed: SRTPKeys)? {
    for mine in own {
      guard let theirs = offered.first(where: { $0.profile == mine.profile }) else { continue }
      let answer = DescribedKey(tag: theirs.tag, mine.profile, mine.key)
      return (answer, SRTPKeys(profile: mine.profile, local: mine.key, remote: theirs.key))
    }
    return nil
  }

  /// Returns the keys that are agreed on by an answer to `own`; nil if it chose none of them.
  func agreed(by answer: [DescribedKey]) -> SRTPKeys? {
    guard let theirs = answer.first,
      let mine = own.first(where: { $0.tag == theirs.tag && $0.profile == theirs.profile })
    else { return nil }
    return SRTPKeys(profile: mine.profile, local: mine.key, remote: theirs.key)
  }
}
