import ArgumentParser
import CallStore
import Foundation
import Localization

struct RecentsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recents",
    abstract: "List recent calls, the newest first."
  )

  @Option(name: .shortAndLong, help: "How many.")
  var limit = 20

  @Flag(help: "Print JSON, one call per line.")
  var json = false

  @Flag(help: "Forget all of them.")
  var clear = false

  func validate() throws {
    guard limit > 0 else { throw ValidationError(localized: "--limit is a positive number") }
  }

  func run() throws {
    let store = try CallStore.ofUser()
    if clear { try store.clearRecents() }
    for recent in try store.recents(limit: limit) {
      print(json ? Self.json(recent) : Self.line(recent))
    }
  }

  private static func line(_ recent: RecentCall) -> String {
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyy-MM-dd HH:mm"
    let seconds = recent.connected.map { Int(recent.ended.timeIntervalSince($0)) }
    let length = seconds.map { String(format: " %d:%02d", $0 / 60, $0 % 60) } ?? ""
    let who = recent.name == recent.handle ? recent.handle : "\(recent.name) <\(recent.handle)>"
    let result = String(localizedReason: recent.resultInWords)
    let text =
      recent.isOutgoing
      ? String(localized: "\(result)\(length)  to \(who)")
      : String(localized: "\(result)\(length)  from \(who)")
    return formatter.string(from: recent.started) + "  " + Terminal.plain(text)
  }

  private static func json(_ recent: RecentCall) -> String {
    let formatter = ISO8601DateFormatter()
    let fields: [String: JSONValue] = [
      "call": .text(recent.call.uuidString), "app": .text(recent.app),
      "handle": .text(recent.handle), "name": .text(recent.name),
      "outgoing": .flag(recent.isOutgoing), "result": .text(recent.result),
      "canBeCalledBack": .flag(recent.canBeCalledBack),
      "started": .text(formatter.string(from: recent.started)),
      "connected": .text(recent.connected.map { formatter.string(from: $0) }),
      "ended": .text(formatter.string(from: recent.ended)),
    ]
    return JSONValue.object(fields).line ?? ""
  }
}
