import Testing

@testable import CommandLine

struct ScreenPictureTests {
  private func picture(_ lines: String...) -> ScreenPicture {
    ScreenPicture(lines: lines.map { ScreenPicture.Line(.init($0)) })
  }

  private func drawing(_ text: String) -> String { "\u{1B}[?2026h\(text)\u{1B}[?2026l" }

  // MARK: Lines

  @Test(arguments: [
    ("abc", 3), ("äöü", 3), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("ｱ", 1), ("Ａ", 2), ("👍", 2),
    ("\u{200D}", 0), ("", 0),
  ])
  func columnsAreThoseOfATerminal(text: String, columns: Int) {
    #expect(text.terminalColumns == columns)
    #expect(ScreenPicture.Line(.init(text)).columns == columns)
  }

  @Test(arguments: [
    ("abc", 2, "ab"), ("日本", 3, "日"), ("日本", 4, "日本"), ("日本", 1, ""), ("abc", 0, ""),
    ("a\u{301}b", 1, "a\u{301}"),
  ])
  func noCharacterIsCutInHalf(text: String, columns: Int, cut: String) {
    #expect(text.cut(toTerminalColumns: columns) == cut)
    #expect(ScreenPicture.Line(.init(text)).cut(to: columns).text == cut)
  }

  @Test func aLineIsCutAcrossItsStyles() {
    let line = ScreenPicture.Line(.init("ab", .strong), .init("cd"), .init("ef", .faint))
    #expect(line.cut(to: 3).spans == [.init("ab", .strong), .init("c")])
    #expect(line.cut(to: 2).spans == [.init("ab", .strong)])
  }

  @Test func columnsAreAligned() {
    var line = ScreenPicture.Line(.init("日"))
    line.pad(to: 4)
    line.append("x")
    #expect(line.text == "日  x" && line.columns == 5)
    line.pad(to: 2)
    #expect(line.columns == 5, "it is beyond that column")
    #expect("日".padded(toTerminalColumns: 4) == "日  ")
    #expect("long".padded(toTerminalColumns: 2) == "long")
  }

  @Test func blanksAtTheEndAreNoText() {
    #expect(ScreenPicture.Line(.init("  a  "), .init("  ")).text == "  a")
    #expect(picture("a ", " ", "b").text == "a\n\nb")
  }

  @Test func stylesEndWithTheirPiece() {
    let line = ScreenPicture.Line(.init("a"), .init("b", .warning), .init("c", .inverse))
    #expect(line.styled == "a\u{1B}[0;1;4mb\u{1B}[0m\u{1B}[0;7mc\u{1B}[0m")
  }

  // MARK: Updates

  @Test func nothingIsDrawnWhereNothingDiffers() {
    #expect(picture("a", "b").update(from: picture("a", "b")) == "")
  }

  @Test func onlyLinesThatDifferAreDrawn() {
    let update = picture("a", "c").update(from: picture("a", "b"))
    #expect(update == drawing("\u{1B}[2;1Hc\u{1B}[K"))
  }

  @Test func allIsDrawnTheFirstTime() {
    let update = picture("a", "b").update(from: nil)
    #expect(update == drawing("\u{1B}[1;1Ha\u{1B}[K\u{1B}[2;1Hb\u{1B}[K\u{1B}[3;1H\u{1B}[J"))
  }

  @Test func linesThatAreGoneAreErased() {
    #expect(picture("a").update(from: picture("a", "b")) == drawing("\u{1B}[2;1H\u{1B}[J"))
    #expect(picture("a", "b").update(from: picture("a")) == drawing("\u{1B}[2;1Hb\u{1B}[K"))
  }

  @Test func aStyleIsADifference() {
    let strong = ScreenPicture(lines: [ScreenPicture.Line(.init("a", .strong))])
    #expect(strong.update(from: picture("a")) != "")
  }
}
