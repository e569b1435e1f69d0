import ArgumentParser
import CallStore
import Foundation

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
    guard limit > 0 else { throw ValidationError("--limit is a positive number") }
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
    let arrow = recent.isOutgoing ? "to  " : "from"
    return "\(formatter.string(from: recent.started))  \(recent.result)\(length)  \(arrow) "
      + Terminal.plain(who)
  }

  private static func json(_ recent: RecentCall) -> String {
    let formatter = ISO8601DateFormatter()
    let fields: [String: Any] = [
      "call": recent.call.uuidString, "app": recent.app, "handle": recent.handle,
      "name": recent.name, "outgoing": recent.isOutgoing, "result": recent.result,
      "canBeCalledBack": recent.canBeCalledBack,
      "started": formatter.string(from: recent.started),
      "connected": recent.connected.map { formatter.string(from: $0) } as Any? ?? NSNull(),
      "ended": formatter.string(from: recent.ended),
    ]
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
    let data = try? JSONSerialization.data(withJSONObject: fields, options: options)
    return String(decoding: data ?? Data(), as: UTF8.self)
  }
}
