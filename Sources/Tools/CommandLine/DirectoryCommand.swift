import ArgumentParser
import CallKit
import CallStore

struct DirectoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "directory",
    abstract: "Call directory extensions: who is to be blocked, and how callers are labelled.",
    subcommands: [List.self, Enable.self, Disable.self, Reload.self],
    defaultSubcommand: List.self
  )

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List extensions.")

    func run() throws {
      let store = try CallStore.ofUser()
      for (identifier, name) in CXCallDirectoryManager.installedExtensions {
        let isEnabled = try store.isExtensionEnabled(identifier) ?? false
        let counts = try store.entryCounts(of: identifier)
        print(
          "\(identifier)  \(name)  \(isEnabled ? "enabled" : "disabled")  "
            + "\(counts.blocked) blocked, \(counts.identified) labelled"
        )
      }
    }
  }

  struct Enable: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let an extension's entries count.")

    @Argument var identifier: String

    func run() throws {
      try DirectoryCommand.set(identifier, isEnabled: true)
    }
  }

  struct Disable: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Let an extension's entries not count."
    )

    @Argument var identifier: String

    func run() throws {
      try DirectoryCommand.set(identifier, isEnabled: false)
    }
  }

  struct Reload: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Run an extension and take its entries over, all or none."
    )

    @Argument var identifier: String

    func run() throws {
      let terminal = Terminal()
      let error = CXCallDirectoryManager.sharedInstance.reload(identifier) { count in
        terminal.refresh("\(count) entries ...")
      }
      terminal.end()
      if let error { throw CommandFailure("\(DirectoryCommand.describe(error))") }
      let counts = try CallStore.ofUser().entryCounts(of: identifier)
      print("\(counts.blocked) blocked, \(counts.identified) labelled.")
    }
  }

  private static func set(_ identifier: String, isEnabled: Bool) throws {
    guard
      CXCallDirectoryManager.installedExtensions.contains(where: { $0.identifier == identifier })
    else {
      throw CommandFailure(
        "there is no extension \"\(identifier)\"; \"sidetone directory\" lists them"
      )
    }
    try CallStore.ofUser().setExtension(identifier, isEnabled: isEnabled)
  }

  private static func describe(_ error: any Error) -> String {
    guard let error = error as? CXErrorCodeCallDirectoryManagerError else {
      return error.localizedDescription
    }
    return switch error.code {
    case .noExtensionFound: "there is no such extension; \"sidetone directory\" lists them"
    case .extensionDisabled: "it is disabled; \"sidetone directory enable\" enables it"
    case .loadingInterrupted: "the extension ended too early; the old entries stay"
    case .entriesOutOfOrder: "its numbers do not ascend; the old entries stay"
    case .duplicateEntries: "a number came twice; the old entries stay"
    case .maximumEntriesExceeded: "it has too many entries; the old ones stay"
    case .currentlyLoading: "it is being loaded already"
    case .unexpectedIncrementalRemoval: "it removed entries in a full load; the old entries stay"
    case .unknown: "the extension failed; the old entries stay"
    }
  }
}
