import ArgumentParser
import CallSecurity
import CallStore
import Localization

/// Command `identity`: shows the identity by which others know this user, or makes a new one.
struct IdentityCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Show by what others know you.",
    shouldDisplay: !HelpScreen.isShort
  )

  @Flag(help: "Make a new identity; far sides that know the old one will warn their users.")
  var renew = false

  @Flag(help: "Print as JSON.")
  var json = false

  func run() throws {
    let file = IdentityFile(in: CallStore.defaultFolder)
    let fingerprint: Fingerprint
    do {
      fingerprint = try renew ? file.renew().fingerprint : file.load().fingerprint
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
    if json {
      let fields: [String: JSONValue] = [
        "fingerprint": .text(fingerprint.description), "words": .text(fingerprint.words),
      ]
      if let line = JSONValue.object(fields).line { print(line) }
      return
    }
    let names = [String(localized: "fingerprint"), String(localized: "in words")]
    let width = names.map(\.terminalColumns).max() ?? 0
    for (name, value) in zip(names, ["SHA-256 \(fingerprint)", fingerprint.words]) {
      print(name.padded(toTerminalColumns: width) + "  " + value)
    }
  }
}
