import Testing

@testable import CommandLine

struct KeyDecoderTests {
  @Test(arguments: [
    ("a5#", "a5#"), ("\u{1B}[3~5", "5"), ("\u{1B}[5~\u{1B}[6~", ""), ("\u{1B}OH\u{1B}[1;5Dh", "h"),
    ("\u{1B}h", ""), ("\u{1B}[[A1", "1"), ("é漢", "é漢"), ("\u{1B}éx", "x"), ("\u{1B}", "\u{1B}"),
    ("\u{1B}\u{1B}", "\u{1B}\u{1B}"),
  ])
  func keysThatAreNoCharactersMeanNothing(sent: String, keys: String) {
    var decoder = KeyDecoder()
    #expect(String(decoder.keys(in: Array(sent.utf8))) == keys)
  }

  @Test func whatComesInPiecesIsPutTogether() {
    var decoder = KeyDecoder()
    var keys: [Character] = []
    for byte in Array("\u{1B}[3~é5".utf8) + [0xFF, 0x80] { keys += decoder.keys(in: [byte]) }
    #expect(keys == ["\u{1B}", "é", "5"])
  }
}
