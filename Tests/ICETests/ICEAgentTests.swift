import MediaCore
import Testing
import NetworkAddress

@testable import ICE

@Suite("ICE: two agents and their routers")
struct ICEAgentTests {
  @Test(
    "all routers but the worst pair are crossed without a relay",
    arguments: [Router.Kind.none, .fullCone, .restricted, .symmetric],
    [Router.Kind.none, .fullCone, .restricted, .symmetric]
  )
  func crossesRouters(_ first: Router.Kind, _ second: Router.Kind) throws {
    var scene = ICEScene(first, second)
    scene.connect()
    #expect(scene.agrees)
    let kinds = [first, second]
    // A port that is another for each destination is of no use to who may not send to it.
    let needsRelay =
      kinds.contains(.symmetric) && !kinds.contains(.none) && !kinds.contains(.fullCone)
    #expect(scene.isRelayed == needsRelay)
    #expect(try #require(scene.milliseconds) < (needsRelay ? 1_500 : 700))
  }

  @Test(
    "the same by IPv6, where firewalls stand in the place of routers",
    arguments: [Router.Kind.none, .fullCone, .restricted, .symmetric],
    [false, true]
  )
  func crossesRoutersByIPv6(_ kind: Router.Kind, isOneNetwork: Bool) {
    var scene = ICEScene(kind, .restricted, isOneNetwork: isOneNetwork, isIPv6: true)
    scene.connect()
    #expect(scene.agrees)
    let needsRelay = kind == .symmetric && !isOneNetwork
    #expect(scene.isRelayed == needsRelay)
    #expect(scene.sides.allSatisfy { $0.paths.last?.remote.isIPv6 == true })
  }

  @Test("without a relay and a way there is none, and both sides give up in time")
  func givesUp() {
    var scene = ICEScene(.symmetric, .symmetric, relays: false)
    scene.connect()
    #expect(scene.sides.map { $0.hasFailed && $0.paths.isEmpty } == [true, true])
  }

  @Test("two machines of one network never relay")
  func staysLocal() throws {
    var scene = ICEScene(.symmetric, .symmetric, isOneNetwork: true)
    scene.delay = 1_000_000
    scene.connect()
    #expect(!scene.isRelayed)
    #expect(scene.sides.map { $0.paths.last?.localKind == .host } == [true, true])
    #expect(try #require(scene.milliseconds) < 60)
  }

  @Test("where nothing else gets through, the relay does")
  func relays() {
    var scene = ICEScene(.closed, .restricted)
    scene.connect()
    #expect(scene.isRelayed && scene.agrees)
  }

  @Test("an address of a relay that came late is offered", arguments: [[0], [1], [0, 1]])
  func offersLateRelays(of sides: [Int]) {
    var scene = ICEScene(.closed, .closed, lateRelays: Set(sides))
    scene.connect(seconds: 0.3)
    for side in sides { scene.handle(.relayed(scene.sides[side].relay), at: side) }
    #expect(scene.sides.allSatisfy { !$0.hasLateCandidate })
    scene.run(seconds: 0.3)
    // Checks by the only late one arrive at the other side, which learns its address by them.
    let offering = sides.count == 2 ? sides : []
    #expect(scene.sides.indices.filter { scene.sides[$0].hasLateCandidate } == offering)
    for side in offering {
      scene.handle(.described(scene.sides[side].agent.description), at: 1 - side)
      scene.run(seconds: 0.1)
    }
    scene.run(seconds: 3)
    #expect(scene.isRelayed && scene.agrees)
  }

  @Test("a relay that came late is not offered where there is a way without")
  func keepsNeedlessRelays() {
    var scene = ICEScene(.none, .none, lateRelays: [0, 1])
    scene.connect(seconds: 0.3)
    for side in [0, 1] { scene.handle(.relayed(scene.sides[side].relay), at: side) }
    scene.run(seconds: 10)
    #expect(scene.sides.allSatisfy { !$0.hasLateCandidate } && !scene.isRelayed && scene.agrees)
  }

  @Test("lost messages are sent again", arguments: [0.1, 0.3])
  func survivesLoss(_ loss: Double) {
    var scene = ICEScene(.restricted, .fullCone)
    scene.loss = loss
    scene.connect()
    #expect(scene.agrees)
  }

  @Test(
    "two sides that claim one role settle it",
    arguments: [ICERole.controlling, .controlled]
  )
  func settlesRoles(_ role: ICERole) {
    var scene = ICEScene(.restricted, .restricted, roles: [role, role])
    scene.connect()
    #expect(scene.agrees)
    #expect(scene.sides[0].agent.role != scene.sides[1].agent.role)
  }

  @Test("a router's address is collected; without a router there is nothing to collect")
  func collects() {
    var scene = ICEScene(.symmetric, .none, relays: false)
    scene.run(seconds: 1)
    #expect(scene.sides.map(\.isGathered) == [true, true])
    #expect(scene.sides[0].agent.description.candidates.map(\.kind) == [.host, .serverReflexive])
    #expect(scene.sides[0].agent.description.defaultCandidate?.address.host == "203.0.113.1")
    #expect(scene.sides[1].agent.description.candidates.map(\.kind) == [.host])
  }

  @Test("servers that do not answer delay the call for two seconds at most")
  func silentServers() {
    var scene = ICEScene(.closed, .closed, relays: false)
    scene.run(seconds: 1.9)
    #expect(!scene.sides[0].isGathered)
    scene.run(seconds: 0.2)
    #expect(scene.sides.map(\.isGathered) == [true, true])
  }

  @Test("checks go on until the far side has the answer, and while a relay may come")
  func waits() {
    var scene = ICEScene(.closed, .closed, lateRelays: [0, 1])
    scene.run(seconds: 3)
    scene.handle(.described(scene.sides[0].agent.description), at: 1)
    scene.run(seconds: 25)
    #expect(!scene.sides[1].hasFailed)
    scene.handle(.described(scene.sides[1].agent.description), at: 0)
    for side in [0, 1] { scene.handle(.confirmed, at: side) }
    scene.run(seconds: 10)
    #expect(scene.sides.allSatisfy { !$0.hasFailed })
    for side in [0, 1] { scene.handle(.relayFailed, at: side) }
    scene.run(seconds: 1)
    #expect(scene.sides.allSatisfy { $0.hasFailed })
  }

  @Test("a relay that cannot be had is waited for no longer")
  func refusedRelay() {
    var generator = SeededGenerator(seed: 3)
    var agent = ICEAgent(
      .controlling,
      hosts: [ICEScene.address("192.0.2.1", 5_004)],
      credentials: .random(using: &generator),
      tiebreaker: generator.next(),
      servers: [],
      hasRelay: true,
      randomness: generator
    )
    let start = MonotonicInstant(nanoseconds: 0)
    #expect(agent.handle(.started, at: start).isEmpty)
    #expect(agent.handle(.relayFailed, at: start) == [.gathered])
  }

  @Test("the voice leaves a way that has closed for one that is open")
  func leavesClosedWays() {
    var scene = ICEScene(.fullCone, .fullCone)
    scene.connect()
    #expect(!scene.isRelayed && scene.agrees)
    scene.isDirectWayClosed = true
    scene.run(seconds: 25)
    #expect(scene.isRelayed && scene.sides.allSatisfy { !$0.hasExpired })
  }

  @Test("a far side that has gone is not sent to for longer than half a minute")
  func losesConsent() {
    var scene = ICEScene(.restricted, .restricted)
    scene.connect()
    scene.run(seconds: 60)
    #expect(scene.sides.map { !$0.hasExpired } == [true, true])
    scene.loss = 1
    scene.run(seconds: 24)
    #expect(scene.sides.map { !$0.hasExpired } == [true, true])
    scene.run(seconds: 12)
    #expect(scene.sides.map(\.hasExpired) == [true, true])
    let before = scene.sent
    scene.run(seconds: 60)
    #expect(scene.sent == before)
  }

  @Test("what is not signed with the password is not answered and changes nothing")
  func ignoresStrangers() {
    var scene = ICEScene(.none, .none)
    scene.connect()
    let before = (scene.sent, scene.sides[0].paths)
    var request = BindingMessage(.request, transaction: Array(repeating: 1, count: 12))
    request.username = "guess:guess"
    request.nominates = true
    request.role = .controlling
    let stranger = ICEScene.address("203.0.113.99", 9)
    scene.handle(.received(request, from: stranger, at: .socket), at: 0)
    request.isAuthentic = true
    scene.handle(.received(request, from: stranger, at: .socket), at: 0)
    #expect(scene.sent == before.0 && scene.sides[0].paths == before.1)
  }

  @Test("a side that begins anew is found again, and the voice keeps its way until then")
  func restarts() throws {
    var scene = ICEScene(.restricted, .restricted)
    scene.connect()
    let before = scene.sides.map(\.paths.count)
    var generator = SeededGenerator(seed: 99)
    let hosts = [ICEScene.address("192.168.0.2", 5_004)]
    scene.handle(.restarted(hosts: hosts, .random(using: &generator)), at: 0)
    scene.handle(.relayed(scene.sides[0].relay), at: 0)
    scene.run(seconds: 3)
    let offer = scene.sides[0].agent.description
    #expect(scene.sides[1].agent.isRestart(offer))
    scene.sides[1].agent.restart(with: .random(using: &generator))
    scene.handle(.described(offer), at: 1)
    scene.handle(.described(scene.sides[1].agent.description), at: 0)
    scene.run(seconds: 5)
    #expect(zip(scene.sides, before).map { $0.paths.count > $1 } == [true, true])
    #expect(scene.agrees)
  }

  @Test("thousands of addresses do not make an agent grow")
  func isBounded() {
    var scene = ICEScene(.none, .none)
    scene.connect()
    let fragment = scene.sides[0].agent.description.credentials.userFragment
    let other = scene.sides[1].agent.description.credentials.userFragment
    var generator = SeededGenerator(seed: 5)
    for index in 0..<2_000 {
      var request = BindingMessage(.request, transaction: Array(repeating: 2, count: 12))
      request.username = "\(fragment):\(other)"
      request.isAuthentic = true
      request.priority = UInt32(truncatingIfNeeded: generator.next())
      let source = ICEScene.address("203.0.\(index / 250).\(index % 250)", 77)
      scene.handle(.received(request, from: source, at: .socket), at: 0)
    }
    #expect(scene.sides[0].agent.exchanges.count < 100)
    scene.run(seconds: 20)
    #expect(scene.sides.map { !$0.hasExpired && $0.paths.count == 1 } == [true, true])
  }

  @Test("a far side that goes on without checks is not given up")
  func suspends() {
    var scene = ICEScene(.restricted, .restricted)
    scene.connect()
    for side in 0..<2 { scene.handle(.suspended, at: side) }
    let before = scene.sent
    scene.run(seconds: 120)
    #expect(scene.sent == before)
    #expect(scene.sides.map(\.hasExpired) == [false, false])
    // Checks may begin again.
    let descriptions = scene.sides.map(\.agent.description)
    scene.handle(.described(descriptions[0]), at: 1)
    scene.handle(.described(descriptions[1]), at: 0)
    scene.run(seconds: 5)
    #expect(scene.sides.map(\.paths.count) == [2, 2])
  }

  @Test("an answer to an offer of before does not spoil a new beginning")
  func ignoresLateAnswers() {
    var scene = ICEScene(.restricted, .restricted)
    scene.connect()
    var generator = SeededGenerator(seed: 3)
    let hosts = [ICEScene.address("192.168.0.2", 5_004)]
    let late = scene.sides[1].agent.description
    scene.handle(.restarted(hosts: hosts, .random(using: &generator)), at: 0)
    scene.sides[0].isGathered = false
    scene.handle(.described(late), at: 0)
    scene.handle(.relayed(scene.sides[0].relay), at: 0)
    scene.run(seconds: 3)
    #expect(scene.sides[0].isGathered && !scene.sides[0].hasFailed)
  }

  @Test("a far side that a router shows at another port is followed for good")
  func followsForGood() {
    var scene = ICEScene(.restricted, .none)
    scene.connect()
    let before = scene.sides[1].paths.count
    // The router has forgotten the port, and gives another one.
    scene.sides[0].router = Router(.restricted, outside: "203.0.113.77")
    scene.run(seconds: 120)
    #expect(scene.sides[1].paths.count == before + 1)
    #expect(scene.sides[1].paths.last?.remote.host == "203.0.113.77")
    #expect(scene.sides.map(\.hasExpired) == [false, false])
  }

  /// RFC 8445 section 5.1.1.3: candidates of one foundation are tried one after another.
  @Test("each kind and each address of the machine has a foundation of its own")
  func foundations() {
    let (first, second) = (
      ICEScene.address("192.0.2.1", 5_004), ICEScene.address("198.51.100.7", 5_004)
    )
    let outside = ICEScene.address("203.0.113.1", 40_000)
    let candidates = [
      ICECandidate(.host, first), ICECandidate(.host, second), ICECandidate(.relayed, outside),
      ICECandidate(.serverReflexive, outside, related: first),
      ICECandidate(.serverReflexive, outside, related: second),
    ]
    #expect(Set(candidates.map(\.foundation)).count == candidates.count)
    let other = ICECandidate(.host, ICEScene.address("192.0.2.1", 6_000))
    #expect(other.foundation == candidates[0].foundation)
    // 1 to 32 letters, digits, "+" and "/" (RFC 8839 section 5.1).
    #expect(
      candidates.allSatisfy {
        (1...32).contains($0.foundation.utf8.count)
          && $0.foundation.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
      }
    )
  }
}
