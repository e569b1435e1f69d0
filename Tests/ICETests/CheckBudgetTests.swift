import MediaCore
import Testing
import NetworkAddress

@testable import ICE

/// An agent without a far side: it receives nothing but what a test supplies.
private struct LoneAgent {
  struct Check {
    let request: BindingMessage
    let address: SocketAddress
  }

  private static let own = ICEScene.address("192.0.2.1", 5_004)

  private var agent: ICEAgent
  private var generator = SeededGenerator(seed: 3)
  private var now = MonotonicInstant(nanoseconds: 0)
  private var far: ICECredentials
  /// Connectivity checks that the agent has sent, with their destinations.
  private(set) var checks: [Check] = []
  private(set) var replies = 0

  init() {
    far = .random(using: &generator)
    agent = ICEAgent(
      .controlled,
      hosts: [Self.own],
      credentials: .random(using: &generator),
      tiebreaker: 1,
      randomness: SeededGenerator(seed: 1)
    )
    handle(.started)
  }

  /// Numbers of checks sent, by host.
  var counts: [String: Int] { checks.reduce(into: [:]) { $0[$1.address.host, default: 0] += 1 } }

  private mutating func handle(_ event: ICEAgent.Event) {
    for case .send(let message, _, let address, _) in agent.handle(event, at: now) {
      guard message.kind == .request else {
        replies += 1
        continue
      }
      checks.append(Check(request: message, address: address))
    }
  }

  mutating func run(seconds: Double) {
    for _ in 0..<Int(seconds * 100) {
      now = now.advanced(byNanoseconds: 10_000_000)
      handle(.timePassed)
    }
  }

  /// Restarts the agent with a new far side that names these addresses, its own or a stranger's.
  mutating func describe(_ addresses: [SocketAddress]) {
    agent.restart(with: .random(using: &generator))
    far = .random(using: &generator)
    let candidates = addresses.enumerated().map { number, address in
      ICECandidate(.host, address, priority: UInt32(100 + number))
    }
    handle(.described(ICEDescription(credentials: far, candidates: candidates)))
  }

  /// Receives a check of the far side from `address`, its own or a forged one.
  mutating func ask(from address: SocketAddress) {
    var request = BindingMessage(.request, transaction: Array(repeating: 1, count: 12))
    request.username = "\(agent.description.credentials.userFragment):\(far.userFragment)"
    request.priority = 1
    request.role = .controlling
    request.isAuthentic = true
    handle(.received(request, from: address, at: .socket))
  }

  /// Receives a success response of the far side, signed with its password, from `address`.
  mutating func answer(_ transaction: [UInt8], from address: SocketAddress) {
    var response = BindingMessage(.success, transaction: transaction)
    response.mapped = Self.own
    response.isAuthentic = true
    handle(.received(response, from: address, at: .socket))
  }
}

@Suite("ICE: how many checks go to hosts that do not answer")
struct CheckBudgetTests {
  private static let host = "198.51.100.7"

  private static func address(_ port: Int) -> SocketAddress {
    ICEScene.address(host, UInt16(port))
  }

  private static func addresses(_ round: Int) -> [SocketAddress] {
    (0..<16).map { address(6_000 + 16 * round + $0) }
  }

  @Test("a host that does not answer gets few checks, whatever is described")
  func sparesStrangers() {
    var lone = LoneAgent()
    for round in 0..<4 {
      lone.describe(Self.addresses(round))
      lone.run(seconds: 10)
    }
    #expect(lone.counts == [Self.host: 50])
  }

  @Test("few hosts are tried, whatever is described")
  func sparesManyStrangers() {
    var lone = LoneAgent()
    for round in 0..<6 {
      lone.describe((0..<16).map { ICEScene.address("198.51.100.\(16 * round + $0)", 6_000) })
      lone.run(seconds: 10)
    }
    #expect(lone.counts.count == 64)
    #expect(lone.counts.values.allSatisfy { $0 <= CheckBudget.checks })
  }

  @Test("a request whose source is forged gets one check, and no more are sent for it later")
  func sparesForgedSources() {
    var lone = LoneAgent()
    lone.describe(Self.addresses(0))
    lone.run(seconds: 2)
    #expect(lone.checks.count == CheckBudget.checks)
    for number in 0..<200 {
      lone.ask(from: Self.address(6_000 + number % 40))
      lone.run(seconds: 0.02)
    }
    lone.run(seconds: 2)
    let sent = lone.checks.count
    #expect(sent > CheckBudget.checks && sent <= CheckBudget.checks + 200 && lone.replies == 200)
    // An answer to nothing that was asked proves nothing.
    lone.answer(Array(repeating: 1, count: 12), from: Self.address(6_000))
    for round in 1..<4 {
      lone.describe(Self.addresses(round))
      lone.run(seconds: 10)
    }
    #expect(lone.checks.count == sent)
  }

  @Test("of a flood of requests with one source a few are worth a check")
  func sparesFloodedSources() {
    var lone = LoneAgent()
    lone.describe(Self.addresses(0))
    lone.run(seconds: 2)
    for _ in 0..<1_000 { lone.ask(from: Self.address(7_000)) }
    lone.run(seconds: 8)
    #expect((1...3).contains(lone.checks.count - CheckBudget.checks))
  }

  @Test("an answer lifts the limit, also to the one check that a request has brought, and late")
  func believesAnswers() throws {
    var lone = LoneAgent()
    lone.describe(Self.addresses(0))
    lone.run(seconds: 2)
    lone.ask(from: Self.address(7_000))
    lone.run(seconds: 0.8)
    #expect(lone.checks.count == CheckBudget.checks + 1)
    let check = try #require(lone.checks.last)
    #expect(check.address == Self.address(7_000))
    lone.answer(check.request.transaction, from: check.address)
    lone.describe(Self.addresses(1))
    lone.run(seconds: 9)
    #expect(lone.checks.count > CheckBudget.checks + 1 + 16 * 20)
  }

  @Test("a far side that comes through is reached, though nothing goes there on trust any more")
  func reachesLateFarSides() {
    var scene = ICEScene(.none, .restricted, relays: false)
    scene.delay = 150_000_000
    for host in ["203.0.113.2", "192.168.3.2"] {
      for _ in 0..<CheckBudget.checks { _ = scene.sides[0].agent.budget.take(host) }
    }
    scene.connect()
    #expect(scene.sides.map(\.paths.count) == [1, 1])
    #expect(scene.sides[0].paths.last?.remote.host == "203.0.113.2")
  }
}
