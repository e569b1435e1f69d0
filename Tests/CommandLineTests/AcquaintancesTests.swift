import CallSecurity
@testable import CallStore
import Foundation
@testable import SidetonePhone
import Localization
import Testing

@testable import CommandLine

struct AcquaintancesTests {
  private static let bobs = [
    Favourite(handle: "sip:bob@example.org", name: "Bob Miller"),
    Favourite(handle: "sip:robert@10.0.0.3", name: "Röbert"),
  ]

  @Test(arguments: ["bob", "Miller", "bob miller", " BOB "])
  func peopleAreMeantByWholeWordsOfTheirNames(name: String) {
    let people = Acquaintances(favourites: Self.bobs).people(called: name)
    #expect(people.map(\.callee) == [.address("sip:bob@example.org")])
  }

  @Test func accentsAndUserPartsCount() {
    let acquaintances = Acquaintances(favourites: Self.bobs)
    #expect(acquaintances.people(called: "robert").map(\.name) == ["Röbert"])
    #expect(acquaintances.people(called: "bo").isEmpty)
    #expect(acquaintances.people(called: "").isEmpty)
  }

  @Test func rememberedIdentitiesAreMeantAtEachOfTheirAddresses() {
    let identity = KnownIdentity(
      fingerprint: "AB",
      name: "Carol",
      firstSeen: .distantPast,
      addresses: [
        .init(text: "carol@10.0.0.7", verified: nil),
        .init(text: "carol@10.0.0.8", verified: .distantPast),
      ]
    )
    let people = Acquaintances(identities: [identity]).people(called: "carol")
    #expect(people.map(\.callee.address) == ["sip:carol@10.0.0.7", "sip:carol@10.0.0.8"])
    #expect(people.map(\.remark.english) == ["known", "known and verified"])
  }

  @Test func aNeighbourIsCertainOnlyByTheNameThatTheUserHasGivenIt() throws {
    let fingerprint = try #require(Fingerprint(String(repeating: "AB:", count: 31) + "AB"))
    let neighbour = Neighbour(
      name: "Carol",
      machine: "desk.local",
      uri: "sip:carol@10.0.0.9",
      fingerprint: fingerprint,
      isOfThisMachine: false
    )
    var acquaintances = Acquaintances(neighbours: [neighbour])
    #expect(acquaintances.people(called: "carol").map(\.isCertain) == [false])
    func identity(_ name: String) -> KnownIdentity {
      KnownIdentity(
        fingerprint: fingerprint.description,
        name: name,
        firstSeen: .distantPast,
        addresses: [.init(text: "carol@10.0.0.7", verified: .distantPast)]
      )
    }
    // One who is known may take another's name.
    acquaintances.identities = [identity("Eve")]
    #expect(acquaintances.people(called: "carol").map(\.isCertain) == [false])
    acquaintances.identities = [identity("Carol")]
    #expect(acquaintances.people(called: "carol").map(\.isCertain) == [true])
    #expect(acquaintances.people(called: "carol").map(\.callee) == [.neighbour(neighbour)])
    // Without encryption the identity is a claim, and the remembered address stays beside it.
    acquaintances.isEncrypting = false
    #expect(acquaintances.people(called: "carol").map(\.isCertain) == [false, true])
    let remark = acquaintances.remark(on: neighbour).english
    #expect(remark == "proves no identity without encryption")
  }

  @Test(arguments: ["sip:bob@host", "bob@host", "+49 30 1234", "tel:110", "*#21#"])
  func addressesAndNumbersAreNoNames(text: String) {
    #expect(!Acquaintances.isName(text))
  }
}
