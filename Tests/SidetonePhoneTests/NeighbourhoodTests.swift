import CallSecurity
import DesktopServices
import Testing

@testable import SidetonePhone

struct NeighbourhoodTests {
  private static func service(
    _ name: String,
    _ address: String,
    interface: Int32 = 2,
    port: UInt16 = 5_060,
    texts: [String: String] = ["user": "bob"]
  ) -> AnnouncedService {
    AnnouncedService(
      key: .init(
        interface: interface,
        networkProtocol: address.contains(":") ? 1 : 0,
        name: name,
        domain: "local"
      ),
      host: "desk.local",
      address: address,
      port: port,
      texts: texts,
      isOfThisMachine: false
    )
  }

  @Test func phoneHeardOnSeveralInterfacesIsOneAtItsBestAddress() {
    var neighbourhood = Neighbourhood()
    let linkLocal = Self.service("Bob", "fe80::1", interface: 3)
    let global = Self.service("Bob", "fd00::1")
    let usual = Self.service("Bob", "192.168.1.5", port: 5_070)
    _ = neighbourhood.handle(.found(linkLocal))
    _ = neighbourhood.handle(.found(global))
    #expect(neighbourhood.neighbours.map(\.uri) == ["sip:bob@[fd00::1]"])
    _ = neighbourhood.handle(.found(usual))
    #expect(neighbourhood.neighbours.map(\.uri) == ["sip:bob@192.168.1.5:5070"])
    // The same again is no news.
    #expect(neighbourhood.handle(.found(usual)) == [])
    _ = neighbourhood.handle(.lost(usual.key))
    #expect(neighbourhood.neighbours.map(\.uri) == ["sip:bob@[fd00::1]"])
    _ = neighbourhood.handle(.lost(linkLocal.key))
    guard case .left(let bob)? = neighbourhood.handle(.lost(global.key)).first else {
      Issue.record("Bob has not left")
      return
    }
    #expect(bob.name == "Bob")
    #expect(neighbourhood == Neighbourhood())
  }

  @Test func twoOfOneNameAreTwoIfOneMayLie() {
    var neighbourhood = Neighbourhood()
    let key = String(repeating: "AB:", count: 31) + "AB"
    let bob = Self.service("Bob", "fd00::1", texts: ["user": "bob", "fp": key])
    let liar = Self.service("Bob", "10.0.0.66", interface: 1)
    _ = neighbourhood.handle(.found(bob))
    _ = neighbourhood.handle(.found(liar))
    #expect(neighbourhood.neighbours.map(\.uri) == ["sip:bob@10.0.0.66", "sip:bob@[fd00::1]"])
    // One that takes another identity is another one.
    var changed = Self.service("Bob", "10.0.0.66", interface: 1, texts: ["fp": key])
    #expect(neighbourhood.handle(.found(changed)).count == 2, "one has left, one has arrived")
    changed = Self.service("Bob", "10.0.0.66", interface: 1, texts: ["user": "x"])
    let events = neighbourhood.handle(.found(changed))
    #expect(
      events.contains {
        if case .arrived(let one) = $0 { one.uri == "sip:x@10.0.0.66" } else { false }
      }
    )
    #expect(neighbourhood.neighbours.count == 2)
  }

  @Test func whatCannotBeCalledIsNoNeighbour() {
    var neighbourhood = Neighbourhood()
    let texts = ["user": "bob>\r\nVia: x"]
    #expect(neighbourhood.handle(.found(Self.service("Bob", "10.0.0.1", texts: texts))) == [])
    #expect(neighbourhood.handle(.found(Self.service("Bob", "", texts: [:]))) == [])
    #expect(neighbourhood.neighbours.isEmpty)
  }

  @Test func announcementHasTheIdentityUnlessThereIsNoEncryption() throws {
    let identity = try Identity.make()
    var configuration = PhoneConfiguration()
    configuration.isAnnounced = true
    configuration.user = "alice"
    let whole = ServicePublisher.Announcement(
      of: configuration,
      as: identity,
      at: ["[fd00::1]:5066", "10.0.0.1:5066"],
      usually: "al on desk"
    )
    #expect(whole?.name == "alice" && whole?.port == 5_066)
    #expect(whole?.texts["fp"] == identity.fingerprint.description)
    configuration.security = .off
    let open = ServicePublisher.Announcement(
      of: configuration,
      as: identity,
      at: ["1.1.1.1:5"],
      usually: "al on desk"
    )
    #expect(open?.texts["fp"] == nil)
    configuration.user = PhoneConfiguration().user
    let nameless = ServicePublisher.Announcement(
      of: configuration,
      as: identity,
      at: ["1.1.1.1:5"],
      usually: "al on desk"
    )
    #expect(nameless?.name == "al on desk")
    configuration.hosts = ["127.0.0.1"]
    let bound = ServicePublisher.Announcement(
      of: configuration,
      as: identity,
      at: ["1.1.1.1:5"],
      usually: "al on desk"
    )
    #expect(bound == nil)
  }
}
