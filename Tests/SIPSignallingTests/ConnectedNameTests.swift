import CallSecurity
import ProgramRig
import Testing

@testable import SIPSignalling

/// Names of those who answer, as an account's server gives them (RFC 5876).
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ConnectedNameTests {
  private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 20)

  /// A telephone number counts where the server names no address; a far side that is called without
  /// a server is not believed.
  @Test(arguments: [
    ("\"Bob Roe\" <tel:+49301>", true, ["tel:+49301", "Bob Roe"]),
    ("<tel:+49301>, \"B. Roe\" <sip:roe@h>", true, ["sip:roe@h", "B. Roe"]),
    ("\"Bob Roe\" <sip:roe@h>", false, []),
  ])
  func serverNamesWhoAnswers(identity: String, isByServer: Bool, names: [String]) async throws {
    let alice = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
    _ = try await alice.start()
    var events = alice.events.makeAsyncIterator()
    let server = try FarSide(.udp)
    let place = "127.0.0.1:\(server.port)"
    var account = try SIPAccount("alice@example.org", server: place, password: "secret")
    account.connection = .udp
    if isByServer {
      try await alice.add(account, identity: Identity.make())
      try server.register()
      let target = "sip:bob@example.org"
      _ = try await alice.invite(target, offer: Self.offer, through: account.address)
    } else {
      _ = try await alice.invite(server.uri, offer: Self.offer)
    }
    let taken = server.answer(.taken, to: try server.request("INVITE"))
    let named = "P-Asserted-Identity: \(identity)\r\nContact:"
    try server.send(taken.replacing("Contact:", with: named))
    var found: [String] = []
    while let event = await events.next() {
      if case .renamed(_, let address, let name) = event { found = [address, name ?? ""] }
      if case .established = event { break }
    }
    #expect(found == names)
    await alice.stop()
  }
}
