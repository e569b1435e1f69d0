import CallSecurity
import CallStore
import Foundation
import Localization
import SidetonePhone

/// Search for the person whom a user wants to call.
enum PersonSearch {
  /// Means by which a call can be made.
  struct Means: Equatable {
    /// True if the user has an account, whose server may know the name.
    var hasAccount = false
    /// True if the user has named the account to use, whose server then knows the name.
    var isAccountNamed = false
    /// True if the far side has to prove the identity that it announces.
    var isEncrypting = true
  }

  /// Returns the person or the address that `text` means.
  ///
  /// An address or a number means itself. A name means a neighbour, a favourite or a known
  /// identity; if there are several, the user chooses. Any other text is left to an account's
  /// server to complete.
  ///
  /// Anybody can announce any name, so the user has to confirm a neighbour to whom he has not given
  /// this name himself.
  ///
  /// - Throws: a `CommandFailure` if the user cannot be asked or declines, or if the name is
  ///   unknown and there is no account.
  static func callee(for text: String, by means: Means) async throws -> Callee {
    guard Acquaintances.isName(text) else { return .address(text) }
    let acquaintances = await acquaintances(
      withNeighbours: !means.isAccountNamed,
      isEncrypting: means.isEncrypting
    )
    let people = acquaintances.people(called: text)
    if people.count > 1 { return try choice(among: people, for: text) }
    if let person = people.first {
      guard !person.isCertain else {
        Terminal.printError(Terminal.plain(line(about: person)))
        return person.callee
      }
      return try confirmed(person, for: text)
    }
    guard means.hasAccount else {
      throw CommandFailure(
        """
        \(quoted(text)) is not on the local network, nor a favourite, nor known; "sidetone people" \
        shows who is here, or write sip:NAME@HOST
        """
      )
    }
    return .address(text)
  }

  /// Returns the people whom the user knows, and those on the local network.
  ///
  /// Sources that cannot be read or searched are left out.
  static func acquaintances(
    withNeighbours isNearWanted: Bool = true,
    isEncrypting: Bool = true
  ) async -> Acquaintances {
    var found = Acquaintances()
    found.isEncrypting = isEncrypting
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

  private static func line(about person: Acquaintances.Person) -> String {
    let remark = String(localized: person.remark)
    return String(localized: "\(quoted(person.name)) is \(person.callee.address) (\(remark)).")
  }

  private static func quoted(_ text: String) -> String { "\"\(text)\"" }

  private static func confirmed(
    _ person: Acquaintances.Person,
    for text: String
  ) throws -> Callee {
    let line = Terminal.plain(line(about: person))
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure(
        """
        \(line) Anybody can announce a name: call it by its address, and after that call give it \
        the name \(quoted(text)) by "sidetone peers name"
        """
      )
    }
    Terminal.printError(line)
    let question = String(localized: "Anybody can announce a name. Call this one? y or n: ")
    Terminal().ask(question)
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw CommandFailure("the call was not made")
    }
    return person.callee
  }

  private static func choice(
    among people: [Acquaintances.Person],
    for text: String
  ) throws -> Callee {
    let list = people.enumerated().map { index, person in
      Terminal.plain(
        "  \(index + 1)  \(quoted(person.name))  \(person.callee.address)  "
          + String(localized: person.remark)
      )
    }
    .joined(separator: "\n")
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure("\(quoted(text)) may mean several; call one by the address:\n\(list)")
    }
    Terminal.printError(String(localized: "\(quoted(text)) may mean:\n\(list)"))
    Terminal().ask(String(localized: "Call which one? 1 to \(people.count): "))
    guard let line = readLine(), let number = Int(line.trimmingCharacters(in: .whitespaces)),
      people.indices.contains(number - 1)
    else { throw CommandFailure("nobody was chosen") }
    return people[number - 1].callee
  }
}
