import ArgumentParser
import CallSecurity
import CallStore
import Foundation
import Localization

/// Command `peers`: lists, names, verifies and forgets the identities that are remembered.
struct PeersCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "The identities of far sides that are remembered.",
    discussion: """
      The first encrypted call with an address remembers the far side's identity. A later one with \
      another identity, or in the open, is refused.
      """,
    shouldDisplay: !HelpScreen.isShort,
    subcommands: [List.self, Name.self, Verify.self, Forget.self],
    defaultSubcommand: List.self
  )

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List them.")

    @Flag(help: "Print as JSON, one per line.")
    var json = false

    func run() throws {
      let store = try CallStore.ofUser()
      for identity in try store.knownIdentities() {
        if json { print(Self.fields(of: identity).line ?? "") } else { Self.show(identity) }
      }
      for address in try store.addressesWithoutIdentity() {
        let fields = JSONValue.object([
          "fingerprint": .null, "addresses": .list([.text(address)]),
        ])
        print(
          json
            ? fields.line ?? ""
            : Terminal.plain(
              String(localized: "\(address): encrypted, without an identity that lasts")
            )
        )
      }
    }

    private static func fields(of identity: KnownIdentity) -> JSONValue {
      .object([
        "fingerprint": .text(identity.fingerprint),
        "name": .text(identity.name),
        "addresses": .list(identity.addresses.map { .text($0.text) }),
        "verified": .list(
          identity.addresses.filter { $0.verified != nil }.map { .text($0.text) }
        ),
      ])
    }

    private static func show(_ identity: KnownIdentity) {
      let name = identity.name.isEmpty ? "" : "\(identity.name): "
      let addresses = identity.addresses.map {
        $0.verified == nil
          ? String(localized: "\($0.text) (not verified)")
          : String(localized: "\($0.text) (verified)")
      }
      print(Terminal.plain(name + addresses.joined(separator: ", ")))
      print("  SHA-256 \(identity.fingerprint)")
      if let words = Fingerprint(identity.fingerprint)?.words { print("  \(words)") }
    }
  }

  struct Name: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Give one a name.")

    @Argument(help: "An address, or a fingerprint.")
    var peer: String

    @Argument(help: "The name.")
    var name: String

    func run() throws {
      let store = try CallStore.ofUser()
      let fingerprint = try PeersCommand.fingerprint(of: peer, in: store)
      guard try store.setName(of: fingerprint, to: name) else { throw PeersCommand.unknown(peer) }
    }
  }

  struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Note that one is who it seems: you have compared fingerprints or words."
    )

    @Argument(help: "An address as \"sidetone peers\" shows it.")
    var address: String

    func run() throws {
      let store = try CallStore.ofUser()
      // It holds for one address, which a fingerprint does not name.
      guard let fingerprint = try store.knownPeer(at: address)?.fingerprint,
        try store.setVerified(fingerprint, address: address, on: Date())
      else { throw PeersCommand.unknown(address) }
    }
  }

  struct Forget: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Accept another identity, or an open call, at an address from now on."
    )

    @Argument(help: "An address as \"sidetone peers\" shows it.")
    var address: String

    func run() throws {
      guard try CallStore.ofUser().forgetPeer(at: address) else {
        throw PeersCommand.unknown(address)
      }
    }
  }

  private static func fingerprint(of peer: String, in store: CallStore) throws -> String {
    if let fingerprint = Fingerprint(peer) { return fingerprint.description }
    guard let fingerprint = try store.knownPeer(at: peer)?.fingerprint else {
      throw unknown(peer)
    }
    return fingerprint
  }

  private static func unknown(_ peer: String) -> CommandFailure {
    CommandFailure("\"\(peer)\" is not remembered; \"sidetone peers\" lists who is")
  }
}
