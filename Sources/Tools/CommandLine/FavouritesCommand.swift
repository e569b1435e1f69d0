import ArgumentParser
import CallStore
import Localization

struct FavouritesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "favourites",
    abstract: "People who are called often, and may always call.",
    subcommands: [List.self, Add.self, Remove.self],
    defaultSubcommand: List.self
  )

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List favourites.")

    func run() throws {
      for favourite in try CallStore.ofUser().favourites() {
        print("\(favourite.name)  \(favourite.handle)")
      }
    }
  }

  struct Add: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Add a favourite, or rename one.")

    @Argument(help: "A SIP address.")
    var handle: String

    @Argument(help: "The name to show.")
    var name: String?

    func run() throws {
      try CallStore.ofUser().add(Favourite(handle: handle, name: name ?? handle))
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove a favourite.")

    @Argument(help: "The SIP address as it was given.")
    var handle: String

    func run() throws {
      guard try CallStore.ofUser().removeFavourite(handle) else {
        throw CommandFailure(
          "\"\(handle)\" is no favourite; \"sidetone favourites\" lists who is"
        )
      }
    }
  }
}
