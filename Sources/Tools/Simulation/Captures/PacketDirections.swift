import Glibc

/// Directions of the packets of a pcapng file by its flags (`epb_flags`), which libpcap does not
/// pass on.
struct PacketDirections {
  /// True for packets that the capturing machine sent, in the order of the file; nil without flags.
  private(set) var areOutgoing: [Bool?] = []

  /// Number of packets without flags after which the others are taken to have none either.
  private static let patience = 100_000
  private static let (enhanced, simple, obsolete): (UInt32, UInt32, UInt32) = (6, 3, 2)
  private static let section: UInt32 = 0x0A0D_0D0A
  /// Option with the flags of a packet, in both kinds of packet blocks.
  private static let flagsOption = 2
  /// Bytes of a packet's options that are read; flags come before long comments, as written.
  private static let longestOptions = 65_536

  /// Reads the file at `path`; empty for other files, and for those without flags.
  init(ofFileAt path: String) {
    guard let file = unsafe fopen(path, "rbe") else { return }
    defer { unsafe fclose(file) }
    var isBig = false
    var hasFlags = false
    while let head = unsafe Self.bytes(8, of: file) {
      let isSection = Self.number(head, at: 0, isBig) == Self.section
      if isSection {
        guard let magic = unsafe Self.bytes(4, of: file) else { break }
        isBig = magic[0] == 0x1A
        unsafe fseek(file, -4, SEEK_CUR)
      } else if areOutgoing.isEmpty, unsafe ftell(file) == 8 {
        return
      }
      let kind = Self.number(head, at: 0, isBig)
      let length = Int(Self.number(head, at: 4, isBig))
      guard length >= 12, length % 4 == 0, length < 1 << 28 else { break }
      var left = length - 8
      if kind == Self.simple { areOutgoing.append(nil) }
      if kind == Self.enhanced || kind == Self.obsolete {
        guard left >= 24, let fixed = unsafe Self.bytes(20, of: file) else { break }
        let data = (Int(Self.number(fixed, at: 12, isBig)) + 3) / 4 * 4
        left -= 20
        guard data >= 0, data <= left - 4 else { break }
        unsafe fseek(file, data, SEEK_CUR)
        left -= data
        let size = min(left - 4, Self.longestOptions)
        let options = size > 0 ? unsafe Self.bytes(size, of: file) ?? [] : []
        left -= options.count
        let isOutgoing = Self.isOutgoing(options, isBig)
        hasFlags = hasFlags || isOutgoing != nil
        areOutgoing.append(isOutgoing)
      }
      if !hasFlags, areOutgoing.count >= Self.patience { break }
      unsafe fseek(file, left, SEEK_CUR)
    }
    if !hasFlags { areOutgoing = [] }
  }

  // Inbound is 1, outbound 2 (draft-ietf-opsawg-pcapng section 4.3.1).
  private static func isOutgoing(_ options: [UInt8], _ isBig: Bool) -> Bool? {
    var place = 0
    while place + 4 <= options.count {
      let word = number(options, at: place, isBig)
      let (code, length) =
        isBig
        ? (Int(word >> 16), Int(word & 0xFFFF)) : (Int(word & 0xFFFF), Int(word >> 16))
      guard code != 0 else { return nil }
      if code == flagsOption, length == 4, place + 8 <= options.count {
        return [1: false, 2: true][number(options, at: place + 4, isBig) & 3]
      }
      place += 4 + (length + 3) / 4 * 4
    }
    return nil
  }

  private static func number(_ bytes: [UInt8], at place: Int, _ isBig: Bool) -> UInt32 {
    let four = bytes[place..<place + 4]
    return isBig
      ? four.reduce(0) { $0 << 8 | UInt32($1) } : four.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  @unsafe
  private static func bytes(_ count: Int, of file: UnsafeMutablePointer<FILE>) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return unsafe fread(&bytes, 1, count, file) == count ? bytes : nil
  }
}
