import ArgumentParser
import CallKit
import CallStore
import Localization

struct DirectoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "directory",
    abstract: "Manage the programs that block and label callers.",
    shouldDisplay: !HelpScreen.isShort,
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
        let state =
          isEnabled ? String(localized: "enabled") : String(localized: "disabled")
        print("\(identifier)  \(name)  \(state)  \(DirectoryCommand.describe(counts))")
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
        terminal.refresh(String(localized: "\(count) entries ..."))
      }
      terminal.end()
      if let error { throw DirectoryCommand.failure(error) }
      let counts = try CallStore.ofUser().entryCounts(of: identifier)
      print(DirectoryCommand.describe(counts) + ".")
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

  private static func describe(_ counts: (blocked: Int, identified: Int)) -> String {
    String(localized: "\(counts.blocked) blocked, \(counts.identified) labelled")
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    guard let error = error as? CXErrorCodeCallDirectoryManagerError else {
      return CommandFailure(reason: error.localizedDescription)
    }
    return switch error.code {
    case .noExtensionFound:
      CommandFailure("there is no such extension; \"sidetone directory\" lists them")
    case .extensionDisabled:
      CommandFailure("it is disabled; \"sidetone directory enable\" enables it")
    case .loadingInterrupted:
      CommandFailure("the extension ended too early; the old entries stay")
    case .entriesOutOfOrder:
      CommandFailure("its numbers do not ascend; the old entries stay")
    case .duplicateEntries:
      CommandFailure("a number came twice; the old entries stay")
    case .maximumEntriesExceeded:
      CommandFailure("it has too many entries; the old ones stay")
    case .currentlyLoading:
      CommandFailure("it is being loaded already")
    case .unexpectedIncrementalRemoval:
      CommandFailure("it removed entries in a full load; the old entries stay")
    case .unknown:
      CommandFailure("the extension failed; the old entries stay")
    }
  }
}
