import CallSecurity
import ProgramRig
import Testing

@testable import SIPSignalling

/// A caller whose far side sends a damaged answer, and then a whole one.
///
/// Each call is answered or ends with a reason, and leaves nothing behind.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DamagedAnswerTests {
  /// Outcome of a call.
  private enum End: Equatable {
    case answered
    case over(SIPEndReason)

    /// The refusal by the whole message that follows an answer without effect.
    static let refused = End.over(.refused(code: 486, phrase: "Busy Here"))
  }

  /// A call with one answer, whole or damaged.
  private struct Round {
    let end: End?
    /// Outcome with a whole answer.
    let proper: End
    /// The answer before it was damaged.
    let answer: String
    /// True if the caller's last INVITE has credentials.
    let isAuthorized: Bool
  }

  /// A user agent that calls.
  private struct Scene {
    let alice: UserAgent
    /// References to libre's stack without a call.
    private let holders: UInt32
    private var events: AsyncStream<SIPEvent>.Iterator
    private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)

    init() async throws {
      var configuration = UserAgent.Configuration(hosts: ["127.0.0.1"], port: 0, user: "alice")
      // The far sides ask whether all has been dealt with.
      configuration.limits.answers = .init(burst: 1e6, perSecond: 1e6)
      alice = UserAgent(configuration)
      events = alice.events.makeAsyncIterator()
      _ = try await alice.start()
      holders = await alice.stackHolders
    }

    /// Calls a far side that is reached directly.
    mutating func call(
      by transport: SIPTransport,
      _ answer: FarSide.Answer,
      _ damage: MessageDamage? = nil
    ) async throws -> Round {
      let farSide = try FarSide(transport)
      let call = try await alice.invite(farSide.uri, offer: Self.offer)
      return try await finish(call, with: farSide, answer, damage)
    }

    /// Calls through the server of an account.
    mutating func call(
      through server: FarSide,
      of account: SIPAccount,
      _ answer: FarSide.Answer,
      _ damage: MessageDamage? = nil
    ) async throws -> Round {
      server.requests = []
      let (call, _) = try await alice.invite(
        "sip:bob@example.org",
        offer: Self.offer,
        through: account.address
      )
      return try await finish(call, with: server, answer, damage)
    }

    private mutating func finish(
      _ call: SIPCallID,
      with farSide: FarSide,
      _ answer: FarSide.Answer,
      _ damage: MessageDamage?
    ) async throws -> Round {
      let invite = try farSide.request("INVITE")
      let whole = farSide.answer(answer, to: invite)
      try send(whole, damage, from: farSide)
      // The caller may have called once more.
      let last = farSide.lastInvite ?? invite
      try farSide.send(farSide.response("486 Busy Here", to: last))
      try farSide.settle()
      let ends = await news().compactMap { event -> End? in
        switch event {
        case .established(call, from: _): .answered
        case .ended(call, let reason): .over(reason)
        default: nil
        }
      }
      let name = "\(answer), \(damage.map { "\($0)" } ?? "whole")"
      #expect(ends.count == 1, "\(name): \(ends)")
      let isFollowed = farSide.requests.contains { $0.hasPrefix("INVITE \(farSide.other) ") }
      #expect(!isFollowed, "\(name): another one is called, unasked")
      switch ends.first {
      case .answered?:
        try farSide.request("ACK")
        await alice.hangUp(call)
        try farSide.request("BYE")
        try farSide.settle()
      case .over(.noCommonCodec)?:
        // The far side takes it for answered.
        try farSide.request("ACK")
        try farSide.request("BYE")
        try farSide.settle()
      default:
        break
      }
      await expectNothingLeft(after: name)
      return Round(
        end: ends.first,
        proper: Self.proper(answer, of: farSide),
        answer: whole,
        isAuthorized: last.contains("Authorization: Digest username=\"alice\"")
      )
    }

    /// Outcome of a call that gets a whole answer, and 486 after it.
    private static func proper(_ answer: FarSide.Answer, of farSide: FarSide) -> End {
      switch answer {
      case .trying, .ringing, .progress: .refused
      case .taken: .answered
      case .moved: .over(.moved(to: farSide.other))
      case .challenge: .over(.refused(code: 401, phrase: "Unauthorized"))
      case .terminated: .over(.refused(code: 487, phrase: "Request Terminated"))
      }
    }

    /// Makes a call that is cancelled while it rings, or is answered and hung up.
    ///
    /// If there is `damage`, the far side sends its last answer, to the INVITE or to the BYE,
    /// damaged before it sends it whole.
    ///
    /// - Returns: that answer.
    func hangUp(
      by transport: SIPTransport,
      ringing isRinging: Bool,
      _ damage: MessageDamage? = nil
    ) async throws -> String {
      let farSide = try FarSide(transport)
      farSide.answersGoodbyes = false
      let call = try await alice.invite(farSide.uri, offer: Self.offer)
      let invite = try farSide.request("INVITE")
      try farSide.send(farSide.answer(isRinging ? .ringing : .taken, to: invite))
      try farSide.settle()
      await alice.hangUp(call)
      let goodbye = try farSide.request(isRinging ? "CANCEL" : "BYE")
      let accepted = farSide.response("200 OK", to: goodbye)
      if isRinging { try farSide.send(accepted) }
      let last = isRinging ? farSide.answer(.terminated, to: invite) : accepted
      if damage != nil { try send(last, damage, from: farSide) }
      try farSide.send(last)
      try farSide.settle()
      try farSide.request("ACK")
      await expectNothingLeft(after: damage.map { "\($0)" } ?? "whole")
      return last
    }

    private func send(
      _ message: String,
      _ damage: MessageDamage?,
      from farSide: FarSide
    ) throws {
      try farSide.send(damage?.applied(to: message) ?? Array(message.utf8))
      if damage != nil { try farSide.endConnection() }
      try farSide.settle()
    }

    private func expectNothingLeft(after name: String) async {
      let left = await alice.stackHolders
      #expect(left == holders, "\(name)")
    }

    /// Events since this was last called.
    private mutating func news() async -> [SIPEvent] {
      let mark = SIPEvent.pathRemark("no more")
      await alice.report(mark)
      var found: [SIPEvent] = []
      while let event = await events.next(), event != mark { found.append(event) }
      return found
    }
  }

  // Cut off as well by UDP; by TCP the rest would be waited for. Long headers count by TCP: of a
  // datagram libre reads 8 kB.
  private static func damages(of answer: String, by transport: SIPTransport) -> [MessageDamage] {
    (transport == .udp ? MessageDamage.cuts(of: answer) : []) + MessageDamage.headers(of: answer)
  }

  /// True if a damaged answer may lead to this outcome.
  private static func isClear(_ end: End?, _ answer: FarSide.Answer) -> Bool {
    switch (answer, end) {
    // Its description makes no sense.
    case (.taken, .over(.noCommonCodec)?): true
    // What is needed for an ACK makes none.
    case (.taken, .over(.failed)?): true
    // It does not say where to.
    case (.moved, .over(.moved(to: nil))?): true
    default: false
    }
  }

  @Test(arguments: FarSide.Answer.allCases, [SIPTransport.udp, .tcp])
  func callsAreAnsweredOrOver(answer: FarSide.Answer, transport: SIPTransport) async throws {
    var scene = try await Scene()
    let first = try await scene.call(by: transport, answer)
    #expect(first.end == first.proper)
    var taken = 0
    let damages = Self.damages(of: first.answer, by: transport)
    for damage in damages {
      let round = try await scene.call(by: transport, answer, damage)
      let isProper = round.end == round.proper || round.end == End.refused
      #expect(
        isProper || Self.isClear(round.end, answer),
        "\(damage): \(String(describing: round.end))"
      )
      if round.end != End.refused { taken += 1 }
    }
    // Some damage does no harm, and some makes an answer as good as none.
    if first.proper != End.refused { #expect(taken > 0 && taken < damages.count) }
    let last = try await scene.call(by: transport, answer)
    #expect(last.end == last.proper)
    await scene.alice.stop()
  }

  @Test(arguments: [true, false], [SIPTransport.udp, .tcp])
  func callsThatWereHungUpAreOver(isRinging: Bool, transport: SIPTransport) async throws {
    let scene = try await Scene()
    let answer = try await scene.hangUp(by: transport, ringing: isRinging)
    for damage in Self.damages(of: answer, by: transport) {
      _ = try await scene.hangUp(by: transport, ringing: isRinging, damage)
    }
    await scene.alice.stop()
  }

  /// The challenge of an account's server is damaged: a call is made with credentials or refused.
  @Test func challengesAreAnsweredOrRefuse() async throws {
    var scene = try await Scene()
    let server = try FarSide(.udp)
    var account = try SIPAccount(
      "alice@example.org",
      server: "127.0.0.1:\(server.port)",
      password: "secret"
    )
    account.connection = .udp
    try await scene.alice.add(account, identity: Identity.make())
    try server.register()
    let first = try await scene.call(through: server, of: account, .challenge)
    #expect(first.isAuthorized && first.end == End.refused)
    var authorized = 0
    let damages = Self.damages(of: first.answer, by: .udp)
    for damage in damages {
      let round = try await scene.call(through: server, of: account, .challenge, damage)
      #expect(
        round.end == End.refused || round.end == round.proper && !round.isAuthorized,
        "\(damage): \(String(describing: round.end))"
      )
      if round.isAuthorized { authorized += 1 }
    }
    #expect(authorized > 0 && authorized < damages.count)
    let last = try await scene.call(through: server, of: account, .challenge)
    #expect(last.isAuthorized && last.end == End.refused)
    await scene.alice.stop()
  }
}
