import ArgumentParser
import CallSecurity
import Foundation
import Localization
import SidetonePhone

/// Command `people`: shows the phones on the local network, as they come and go.
struct PeopleCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "people",
    abstract: "Show who is on the local network, as they come and go.",
    discussion: """
      Phones announce themselves by DNS-SD: sidetone does while it listens, unless with --hidden. \
      The names prove nothing; who is new to you is shown with the fingerprint. On a terminal it \
      goes on until Ctrl-C.
      """
  )

  @Flag(help: "Show who is here now, and end.")
  var once = false

  @Flag(help: "Print as JSON, one change per line.")
  var json = false

  func run() async throws {
    let browser = try CommandFailure.orFail { try NeighbourBrowser() }
    let acquaintances = await PersonSearch.acquaintances(withNeighbours: false)
    let isOnce = once || isatty(STDOUT_FILENO) == 0 && !json
    var count = 0
    for await event in browser.events {
      switch event {
      case .arrived(let neighbour):
        count += 1
        show(neighbour, "arrived", acquaintances)
      case .left(let neighbour):
        show(neighbour, "left", acquaintances)
      case .complete:
        if count == 0, !json {
          print(String(localized: "There is no phone on the local network yet."))
        }
        if isOnce { return }
      case .failed(let reason):
        throw CommandFailure(
          """
          the local network cannot be searched: \(reason: reason); it takes Avahi (package \
          avahi-daemon)
          """
        )
      }
      fflush(nil)
    }
  }

  private func show(_ neighbour: Neighbour, _ event: String, _ acquaintances: Acquaintances) {
    let remark = acquaintances.remark(on: neighbour)
    if json {
      let fields: [String: JSONValue] = [
        "event": .text(event), "name": .text(neighbour.name), "machine": .text(neighbour.machine),
        "address": .text(neighbour.uri), "fingerprint": .text(neighbour.fingerprint?.description),
        "remark": .text(remark.english), "thisMachine": .flag(neighbour.isOfThisMachine),
      ]
      if let line = JSONValue.object(fields).line { print(line) }
      return
    }
    let text =
      event == "left"
      ? String(localized: "\(neighbour.name) has left.")
      : "\(neighbour.name)  \(neighbour.uri)  \(String(localized: remark))"
    print(Terminal.plain(text))
  }
}
