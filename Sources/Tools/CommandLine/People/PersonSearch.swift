import CallSecurity
import CallStore
import Foundation
import SidetonePhone

/// Finds out whom a user wants to call.
enum PersonSearch {
  /// Whom `text` means: itself if it is an address or a number; by name a neighbour, a favourite or
  /// a known identity, and if there are several, whom the user chooses; else the text, for an
  /// account to complete.
  ///
  /// Throws a `CommandFailure` if there are several and no user to ask, or none.
  static func callee(for text: String, hasAccount: Bool) async throws -> Callee {
    guard Acquaintances.isName(text) else { return .address(text) }
    let people = await acquaintances().people(called: text)
    if people.count > 1 { return try choice(among: people, for: text) }
    if let person = people.first {
      Terminal.printError("\(person.name) is \(person.callee.address) (\(person.remark)).")
      return person.callee
    }
    guard hasAccount else {
      throw CommandFailure(
        "\"\(text)\" is not on the local network, nor a favourite, nor known; "
          + "\"sidetone people\" shows who is here, or write sip:NAME@HOST"
      )
    }
    return .address(text)
  }

  /// Whom the user knows, and who is near.
  ///
  /// What cannot be read or searched is left out.
  static func acquaintances(withNeighbours isNearWanted: Bool = true) async -> Acquaintances {
    var found = Acquaintances()
    // Without Avahi, or a file, the others are still found.
    if isNearWanted { found.neighbours = (try? await NeighbourBrowser.neighbours()) ?? [] }
    if let store = try? CallStore.ofUser() {
      found.favourites = (try? store.favourites()) ?? []
      found.identities = (try? store.knownIdentities()) ?? []
    }
    // Nor does one without an identity meet itself.
    found.own = try? IdentityFile(in: CallStore.defaultFolder).load().fingerprint
    return found
  }

  private static func choice(
    among people: [Acquaintances.Person],
    for text: String
  ) throws -> Callee {
    let list = people.enumerated().map { index, person in
      "  \(index + 1)  \(person.name)  \(person.callee.address)  \(person.remark)"
    }
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure(
        "\"\(text)\" may mean several; call one by the address:\n" + list.joined(separator: "\n")
      )
    }
    Terminal.printError("\"\(text)\" may mean:\n" + list.joined(separator: "\n"))
    Terminal().ask("Call which one? 1 to \(people.count): ")
    guard let line = readLine(), let number = Int(line.trimmingCharacters(in: .whitespaces)),
      people.indices.contains(number - 1)
    else { throw CommandFailure("nobody was chosen") }
    return people[number - 1].callee
  }
}
