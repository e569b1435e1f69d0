/// Decoder of the keys in the bytes that a terminal sends.
///
/// A value. Keys that are no characters, like Delete, and those with Alt send an escape and more
/// (ECMA-48, section 5.4); they are dropped. An escape that nothing follows at once is the key
/// Escape.
struct KeyDecoder {
  /// Position of the last byte in an escape sequence.
  private enum Place: Equatable {
    case outside
    /// After an escape; `isPassedOn` if it was reported as the key Escape, as nothing came with it.
    case escape(isPassedOn: Bool)
    /// In a control sequence, which ends with a byte from `@` to `~`.
    case control(isFirst: Bool)
    /// Before the last byte of a sequence.
    case last
  }

  private static let escape: Character = "\u{1B}"
  private static let longestCharacter = 4
  private var place = Place.outside
  /// Bytes of a character (UTF-8) that is not complete yet.
  private var begun: [UInt8] = []

  /// Returns the keys in bytes that have come at once.
  mutating func keys(in bytes: some Sequence<UInt8>) -> [Character] {
    var keys: [Character] = []
    for byte in bytes {
      if let key = key(endingWith: byte) { keys.append(key) }
    }
    if place == .escape(isPassedOn: false) {
      place = .escape(isPassedOn: true)
      keys.append(Self.escape)
    }
    return keys
  }

  private mutating func key(endingWith byte: UInt8) -> Character? {
    let before = place
    place = .outside
    switch (before, byte) {
    case (.last, _): break
    // The function keys of Linux's console.
    case (.control(isFirst: true), 0x5B): place = .last
    case (.control, 0x20...0x3F): place = .control(isFirst: false)
    case (.control, 0x40...0x7E): break
    case (.escape, 0x5B): place = .control(isFirst: true)
    case (.escape, 0x4F): place = .last
    case (.escape(isPassedOn: false), 0x1B):
      place = .escape(isPassedOn: false)
      return Self.escape
    case (_, 0x1B): place = .escape(isPassedOn: false)
    // A key with Alt.
    case (.escape(isPassedOn: false), _): break
    default: return character(endingWith: byte)
    }
    return nil
  }

  private mutating func character(endingWith byte: UInt8) -> Character? {
    switch byte {
    case 0..<0x80, 0xC0...: begun = [byte]
    default: if !begun.isEmpty { begun.append(byte) }
    }
    guard let character = String(validating: begun, as: UTF8.self)?.first else {
      if begun.count >= Self.longestCharacter { begun = [] }
      return nil
    }
    begun = []
    return character
  }
}
