import ArgumentParser
import CallStore
import Foundation
import Localization

/// Command `block`: blocks callers, unblocks them, and lists those that are blocked.
struct BlockCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "block",
    abstract: "Block callers, by SIP address or telephone number.",
    shouldDisplay: !HelpScreen.isShort,
    subcommands: [Add.self, Remove.self, List.self]
  )

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Block a caller.")

    @Argument(help: "A SIP address or a telephone number with its country code.")
    var handle: String

    func run() throws {
      try CallStore.ofUser().block(handle)
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Block a caller no more.")

    @Argument(help: "As it was given, or in any other spelling.")
    var handle: String

    func run() throws {
      guard try CallStore.ofUser().unblock(handle) else {
        throw CommandFailure("\"\(handle)\" was not blocked; \"sidetone block list\" lists who is")
      }
    }
  }

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List blocked callers.")

    func run() throws {
      for handle in try CallStore.ofUser().blocked() { print(handle) }
    }
  }
}

extension CallStore {
  /// Opens the user's store.
  ///
  /// - Throws: a `CommandFailure` with what to do, if it cannot be opened.
  static func ofUser() throws -> CallStore {
    do {
      return try CallStore(in: defaultFolder)
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }
}
