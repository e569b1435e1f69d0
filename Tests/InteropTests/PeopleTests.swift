import Foundation
import Testing

/// Two hosts on one cable, each with a message bus and Avahi of its own, find each other by name.
@Suite(.waiting, .serialized)
struct PeopleTests {
  @Test func peopleAreFoundAndCalledByName() throws {
    guard let (hosts, services) = try AvahiHost.pair() else { return }
    defer { withExtendedLifetime((hosts, services)) {} }
    let people = try services[0].start(["people", "--json"])
    let listener = try services[1].start(
      ["listen", "--answer", "--json", "--headset", "null"]
        + ["--user", "bob", "--name", "Bob Miller"]
    )
    #expect(people.wait(for: "sip:bob@10.77.0.2"), "\(people.output)")
    #expect(people.printed("Bob Miller"))
    #expect(people.printed("new to you"))

    func call(_ name: String) throws -> ProgramRun {
      try services[0].start(["call", name, "--json", "--duration", "2", "--headset", "null"])
    }
    // Anybody can announce a name: without a terminal it is refused until the user has given it.
    let early = try call("BOB")
    #expect(early.waitForExit() == 1)
    #expect(early.printed("\"Bob Miller\" is sip:bob@10.77.0.2"), "\(early.output)")
    let first = try call("sip:bob@10.77.0.2")
    #expect(first.waitForExit() == 0, "\(first.output)")
    let naming = try services[0].start(["peers", "name", "bob@10.77.0.2", "Bob"])
    #expect(naming.waitForExit() == 0, "\(naming.output)")
    let caller = try call("BOB")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(caller.printed("\"encrypted\":true"), "\(caller.output)")
    listener.signal(SIGTERM)
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    #expect(people.wait(for: "\"left\""), "\(people.output)")
    people.signal(SIGTERM)
    _ = people.waitForExit()

    let missing = try services[0].start(["call", "carol", "--headset", "null"])
    #expect(missing.waitForExit() == 1)
    #expect(missing.printed("sidetone people"), "\(missing.output)")
  }

  @Test func hiddenPhonesAreNotAnnouncedAndLiarsAreNotBelieved() throws {
    guard let (hosts, services) = try AvahiHost.pair() else { return }
    defer { withExtendedLifetime((hosts, services)) {} }
    guard let publish = Bench.find("avahi-publish") else { return Bench.skip("avahi-utils") }
    let listener = try services[1].start(
      ["listen", "--answer", "--hidden", "--json", "--headset", "null", "--name", "Bob"]
    )
    #expect(listener.wait(for: "10.77.0.2:5060"), "\(listener.output)")
    let none = try services[0].start(["people", "--once"])
    #expect(none.waitForExit() == 0)
    #expect(!none.printed("sip:"), "\(none.output)")

    // The user calls Bob by his address, and gives him his name.
    let first = try services[0].start(
      ["call", "sip:bob@10.77.0.2", "--json", "--duration", "1", "--headset", "null"]
    )
    #expect(first.waitForExit() == 0, "\(first.output)")
    let naming = try services[0].start(["peers", "name", "bob@10.77.0.2", "Bob"])
    #expect(naming.waitForExit() == 0, "\(naming.output)")
    let fingerprint = try #require(
      first.output.split(separator: "\"fingerprint\":\"").dropFirst().first?.prefix(95)
    )

    // Another phone announces Bob's name and identity, which it does not have.
    let other = try hosts.start(
      on: 1,
      ["listen", "--answer", "--hidden", "--json", "--headset", "null"]
        + ["--listen", "10.77.0.2:5064"],
      environment: services[1].environment.merging(["XDG_DATA_HOME": Bench.folder().path]) { $1 }
    )
    #expect(other.wait(for: "10.77.0.2:5064"), "\(other.output)")
    let liar = try hosts.run(
      publish,
      on: 1,
      ["-s", "Bob", "_sip._udp", "5064", "user=bob", "fp=\(fingerprint)"],
      environment: services[1].environment
    )
    #expect(liar.wait(for: "Established"), "\(liar.output)")
    let caller = try services[0].start(["call", "bob", "--json", "--headset", "null"])
    #expect(caller.waitForExit() == 1, "\(caller.output)")
    #expect(caller.printed("does not show the identity"), "\(caller.output)")

    // A second Bob: without a terminal nobody can be asked.
    let second = try hosts.run(
      publish,
      on: 0,
      ["-s", "Bob of the cellar", "_sip._udp", "5070"],
      environment: services[0].environment
    )
    #expect(second.wait(for: "Established"), "\(second.output)")
    let undecided = try services[0].start(["call", "bob", "--headset", "null"])
    #expect(undecided.waitForExit() == 1)
    #expect(undecided.printed("may mean several"), "\(undecided.output)")
    #expect(undecided.printed("known"), "\(undecided.output)")
    for program in [listener, other, liar, second] {
      program.signal(SIGKILL)
      _ = program.waitForExit()
    }
  }
}
