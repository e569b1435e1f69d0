import Testing

@testable import CommandLine

struct TerminalTests {
  @Test func farSideCannotSteerTheTerminal() {
    let attack = "Eve\u{1B}[2J\u{7}\r\nsidetone: all is well\u{9B}31m\u{0}"
    let shown = Terminal.plain(attack)
    #expect(shown.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    #expect(shown.hasPrefix("Eve") && shown.contains("all is well"))
    #expect(Terminal.plain("a\nb\tc", keeping: "\n") == "a\nb c")
    #expect(Terminal.plain("Zoë 👩‍🚀 日本") == "Zoë 👩‍🚀 日本")
  }
}
