import Localization
import TOMLKit
import Testing

@testable import CommandLine

struct SettingsTests {
  private let catalogue: SettingCatalogue

  init() throws {
    catalogue = try SettingCatalogue.ofProgram()
  }

  private func settings(_ file: [String: [String: String]] = [:]) throws -> Settings {
    try Settings(file: file, among: catalogue)
  }

  private func mistake(_ file: [String: [String: String]]) -> String? {
    do throws(Settings.Mistake) {
      _ = try Settings(file: file, among: catalogue)
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test func catalogueHasWhatCallAndListenShare() {
    let names = catalogue.all.map(\.name)
    #expect(names.contains("frame") && names.contains("headset") && names.contains("fec"))
    #expect(!names.contains("redial") && !names.contains("answer"), "each is of one command")
    #expect(!names.contains("no-fec"), "it is the same as fec = false")
    #expect(!names.contains("json"), "that is for a single run")
    #expect(catalogue.options(of: "check").map(\.name).contains("period"))
    #expect(!catalogue.options(of: "check").map(\.name).contains("frame"))
  }

  @Test func someMayBeSetForOneCommandAlone() throws {
    #expect(!catalogue.all.map(\.name).contains("listen"))
    #expect(mistake(["": ["listen": "0.0.0.0:5070"]]) != nil)
    let settings = try settings(["listen": ["listen": "0.0.0.0:5070"]])
    #expect(settings.arguments(beside: ["call"], among: catalogue) == [])
    let listening = settings.arguments(beside: ["listen"], among: catalogue)
    #expect(listening == ["--listen=0.0.0.0:5070"])
  }

  @Test func fileCompletesWhatIsTyped() throws {
    let settings = try settings(["": ["frame": "5", "fec": "false", "card-profile": "true"]])
    func added(_ typed: String...) -> [String] {
      settings.arguments(beside: typed, among: catalogue)
    }
    #expect(added("call", "sip:bob@host") == ["--frame=5", "--no-fec", "--card-profile"])
    #expect(added("check") == ["--card-profile"])
    #expect(added("loopback") == [], "it is measured as it was typed")
    #expect(added() == [])
  }

  @Test func whatIsTypedGoesFirst() throws {
    let settings = try settings(
      ["": ["frame": "5", "fec": "true", "headset": "hw:1,0", "capture": "hw:2,0"]]
    )
    func added(_ typed: String...) -> [String] {
      settings.arguments(beside: ["call"] + typed, among: catalogue)
    }
    #expect(added("--frame=10") == ["--fec", "--headset=hw:1,0", "--capture=hw:2,0"])
    #expect(added("--no-fec") == ["--frame=5", "--headset=hw:1,0", "--capture=hw:2,0"])
    #expect(added("--capture", "null") == ["--frame=5", "--fec", "--headset=hw:1,0"])
    #expect(added("--headset", "null") == ["--frame=5", "--fec"], "a headset is both sides")
  }

  @Test func nearerHeadsetTakesThePlaceOfBothSides() throws {
    let file = ["": ["capture": "hw:1,0"], "listen": ["headset": "null"]]
    var settings = try settings(file)
    #expect(settings.setting("capture", for: "listen") == nil)
    #expect(settings.setting("capture", for: "call")?.value == "hw:1,0")
    try settings.yield(to: ["SIDETONE_HEADSET": "hw:3,0"], among: catalogue)
    #expect(settings.setting("capture", for: "call") == nil)
    #expect(settings.setting("headset", for: "listen")?.value == "hw:3,0")
  }

  @Test func tableGoesBeforeTheRestOfTheFile() throws {
    let settings = try settings(["": ["ringer": "default"], "listen": ["ringer": "none"]])
    #expect(settings.setting("ringer", for: "call")?.value == "default")
    #expect(settings.setting("ringer", for: "listen")?.value == "none")
    #expect(
      settings.setting("ringer", for: "listen")?.origin.description == "config.toml, [listen]"
    )
  }

  @Test func environmentGoesBeforeTheFile() throws {
    var settings = try settings(["listen": ["echo-cancellation": "false"]])
    try settings.yield(
      to: ["SIDETONE_ECHO_CANCELLATION": "true", "SIDETONE_FEC": "", "SIDETONE_X": "y"],
      among: catalogue
    )
    let setting = settings.setting("echo-cancellation", for: "listen")
    #expect(setting?.value == "true")
    #expect(setting?.origin.description == "SIDETONE_ECHO_CANCELLATION")
    #expect(throws: Settings.Mistake.self) {
      try settings.yield(to: ["SIDETONE_FEC": "2"], among: catalogue)
    }
  }

  @Test func mistakesNameTheNearestName() {
    #expect(mistake(["": ["fram": "5"]]) == "there is no setting \"fram\"; did you mean \"frame\"?")
    #expect(
      mistake(["check": ["frame": "5"]])
        == "there is no setting \"frame\" for check; sidetone config lists them"
    )
    #expect(
      mistake(["lsten": [:]]) == "there are no settings for \"lsten\"; did you mean \"listen\"?"
    )
    #expect(mistake(["": ["fec": "yes"]]) == "\"fec\" is true or false, not \"yes\"")
  }

  @Test func fileIsReadByTable() throws {
    let text = """
      # How I call
      name = "Alice"
      period = 2.5
      frame = 5
      fec = true
      [listen]
      ringer = 'none'
      """
    let values = try ConfigurationFile.values(of: text)
    #expect(
      values == [
        "": ["name": "Alice", "period": "2.5", "frame": "5", "fec": "true"],
        "listen": ["ringer": "none"],
      ]
    )
  }

  @Test(arguments: [
    (#"name = "A \"B\" \\ C\t\u00e9" # who I am"#, "A \"B\" \\ C\té"),
    ("name='C:\\#' ", "C:\\#"), ("\tname = -2.5\r\n", "-2.5"), ("name = false#", "false"),
  ])
  func valuesAreReadAsTheyAreMeant(text: String, value: String) throws {
    #expect(try ConfigurationFile.values(of: text) == ["": ["name": value]])
  }

  @Test(arguments: ["b", "= 1", "[a", "[[a]]", #""a\u0000" = 1"#, "a.b = 1", "a = 1\nb"])
  func linesThatAreNoSettingAreFound(text: String) {
    let lines = text.split(separator: "\n").count
    #expect(throws: ConfigurationFile.StrangeLine(number: lines)) {
      try ConfigurationFile.values(of: text)
    }
  }

  /// Some of them would end the program in TOMLKit.
  @Test(arguments: [
    "", "[1, 2]", "[}", "{ b = 1 }", "2026-99-01", "25:62", "inf", "yes", #""b"#, "'b", "1 2",
    #""""b""""#, "\"a\"\u{301}\"",
  ])
  func otherValuesAreMistakes(value: String) {
    let error = Settings.Mistake(localized: "\"frame\" is a text, a number, true or false")
    #expect(throws: error) { try ConfigurationFile.values(of: "frame = \(value)") }
  }

  @Test(arguments: ["a = 1\na = 2", "[a]\n[a]", #"a = "\x""#, #"a = "\uD800""#, "a = 01"])
  func otherMistakesAreFoundByTOMLKit(text: String) {
    #expect(throws: TOMLParseError.self) { try ConfigurationFile.values(of: text) }
  }

  @Test func oneWayToShowACallTakesThePlaceOfAnother() throws {
    var settings = try settings(["": ["plain": "true"], "listen": ["screen": "true"]])
    #expect(settings.arguments(beside: ["call"], among: catalogue) == ["--plain"])
    #expect(settings.arguments(beside: ["listen"], among: catalogue) == ["--screen"])
    #expect(settings.arguments(beside: ["call", "--screen-reader"], among: catalogue) == [])
    #expect(settings.arguments(beside: ["listen", "--plain"], among: catalogue) == [])
    try settings.yield(to: ["SIDETONE_SCREEN_READER": "true"], among: catalogue)
    for command in ["call", "listen"] {
      #expect(settings.arguments(beside: [command], among: catalogue) == ["--screen-reader"])
    }
  }
}
