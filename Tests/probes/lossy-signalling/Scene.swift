import CVirtualLoop
import Glibc
import MediaCore
import RealTime
import SIPSignalling
import Simulation
import Synchronization
import UDPTransport

/// Caller, callee and a third party, on the loop's thread like their agents.
actor Scene {
  /// The actions in a call.
  enum Course: String, CaseIterable {
    case callerHangsUp, calleeHangsUp, hold, cancel, cancelWhileAnswered, decline
    /// Both sides hold and resume as they like, also at the same time.
    case holds
    /// An hour, in which sessions are refreshed (RFC 4028).
    case long
    /// One side transfers the other to the third party.
    case transfer
    /// Neither side can be reached but by a relay (RFC 8656).
    case relayed
  }

  /// One side of a call.
  struct Side: Equatable {
    let place: Int
    let id: SIPCallID
  }

  let agents: [UserAgent]
  private var ports: [UInt16] = []
  /// Events of the call at hand, of the caller, the callee and the third party.
  private var events: [[SIPEvent]] = [[], [], []]
  private var paths: [(place: Int, id: MediaPathID)] = []
  /// Calls of each course, and those of them that went wrong as the network lost all that was said
  /// about something.
  private(set) var counts: [Course: (all: Int, cutOff: Int)] = [:]
  private var waiting: CheckedContinuation<Void, Never>?
  private let timer: LoopTimer
  var random = SeededGenerator(seed: 0)

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // SAFETY: the agents' executor lives as long as the process.
    unsafe agents[0].unownedExecutor
  }

  init() {
    agents = ["alice", "bob", "carol"].map { user in
      var configuration = UserAgent.Configuration(hosts: ["127.0.0.1"], port: 0, user: user)
      configuration.limits = .service
      return UserAgent(configuration)
    }
    timer = LoopTimer()
  }

  func begin() async throws {
    for (place, agent) in agents.enumerated() {
      let address = try await agent.start().first { $0.hasPrefix("127.0.0.1:") }
      ports.append(address.flatMap { UInt16($0.dropFirst("127.0.0.1:".count)) } ?? 0)
      Task {
        for await event in agent.events { note(event, at: place) }
      }
    }
    virtual_loop_begin { now, port, length, number in
      network.withLock { $0.arrival(at: now, port, Int(length), number) }
    }
  }

  private func note(_ event: SIPEvent, at place: Int) {
    events[place].append(event)
    waiting?.resume()
    waiting = nil
  }

  // MARK: What the courses use

  /// Waits until `isDone`; false if that takes longer than `seconds`.
  func wait(_ seconds: Double, until isDone: (isolated Scene) -> Bool = { _ in false })
    async -> Bool
  {
    let end = MonotonicClock.now().advanced(byNanoseconds: Int64(seconds * 1e9))
    while !isDone(self), MonotonicClock.now() < end {
      await withCheckedContinuation { continuation in
        waiting = continuation
        timer.start(for: end) { [weak self] in
          self?.assumeIsolated {
            $0.waiting?.resume()
            $0.waiting = nil
          }
        }
      }
    }
    return isDone(self)
  }

  /// Waits for a random time of up to `seconds`.
  func pause(_ seconds: Double) async {
    _ = await wait(Double.random(in: 0...seconds, using: &random))
  }

  func address(of place: Int) -> String {
    "sip:\(["alice", "bob", "carol"][place])@127.0.0.1:\(ports[place])"
  }

  func offer(at place: Int) -> MediaOffer {
    MediaOffer(host: "127.0.0.1", port: 4_000 + UInt16(1_000 * place), packetMilliseconds: 20)
  }

  /// The newest call that has come to a place.
  func incoming(at place: Int) -> Side? {
    for case .incoming(let id, _) in events[place].reversed() {
      return Side(place: place, id: id)
    }
    return nil
  }

  func isHeardOf(_ side: Side) -> Bool { !events[side.place].isEmpty }

  func isEstablished(_ side: Side) -> Bool {
    events[side.place].contains {
      if case .established(side.id, _) = $0 { true } else { false }
    }
  }

  /// Ends of a call: one that the network had cut off may end in the midst of the next.
  func ends(_ side: Side) -> [SIPEndReason] {
    events[side.place].compactMap {
      if case .ended(side.id, let reason) = $0 { reason } else { nil }
    }
  }

  func agreements(_ side: Side) -> [NegotiatedMedia] {
    events[side.place].compactMap {
      if case .media(side.id, let media) = $0 { media } else { nil }
    }
  }

  func route(_ side: Side) -> MediaRoute? {
    for case .routed(side.id, let route) in events[side.place] { return route }
    return nil
  }

  func requestedTransfer(_ side: Side) -> TransferTarget? {
    for case .transferRequested(side.id, let target) in events[side.place] { return target }
    return nil
  }

  /// The final status of a transfer that a side has asked for.
  func transferStatus(_ side: Side) -> Int? {
    for case .transferProgressed(side.id, let status) in events[side.place] where status >= 200 {
      return status
    }
    return nil
  }

  /// Places a call and answers it; the two sides, or what went wrong.
  func talk(
    from caller: Int,
    to callee: Int,
    target: TransferTarget? = nil,
    answeringWithin seconds: Double = 2,
    relay: SIPAccount? = nil
  ) async throws -> (caller: Side, callee: Side) {
    let before = incoming(at: callee)
    var offers = [offer(at: caller), offer(at: callee)]
    offers[0].path = try await openPath(at: caller, relay)
    let id = try await agents[caller].invite(
      target?.uri ?? address(of: callee),
      offer: offers[0],
      expecting: nil,
      target: target
    )
    let outgoing = Side(place: caller, id: id)
    let isThere = await wait(33) { scene in
      scene.incoming(at: callee).map { $0 != before } ?? false
    }
    guard isThere, let called = incoming(at: callee) else { throw Fault("no call came") }
    offers[1].path = try await openPath(at: callee, relay)
    await pause(seconds)
    guard await agents[callee].answer(called.id, offer: offers[1]) else {
      throw Fault("the call cannot be answered")
    }
    let isUp = await wait(33) { $0.isEstablished(outgoing) && $0.isEstablished(called) }
    guard isUp else {
      throw Fault(
        "established: \(isEstablished(outgoing)) and \(isEstablished(called)), "
          + "\(ends(outgoing)) and \(ends(called))"
      )
    }
    return (outgoing, called)
  }

  /// Hangs up, and checks that the other side learns of it.
  func hangUp(_ side: Side, tells other: Side) async throws {
    guard ends(side).isEmpty, ends(other).isEmpty else {
      throw Fault("ended: \(ends(side)) and \(ends(other))")
    }
    await agents[side.place].hangUp(side.id)
    guard await wait(40, until: { !$0.ends(other).isEmpty }) else {
      throw Fault("the other side does not learn of the end")
    }
  }

  // MARK: Paths

  /// Opens a path that leads by a relay alone, and returns what it offers; nil without a relay, or
  /// if the relay has given no address.
  func openPath(at place: Int, _ relay: SIPAccount?) async throws -> PathOffer? {
    guard let relay, let any = SocketAddress(host: "127.0.0.1", port: 0) else { return nil }
    var socket = try MediaSocket(bindingTo: any)
    let port = try socket.makeCheckPort()
    network.withLock { _ = $0.closedPorts.insert(port.localPort) }
    let request = UserAgent.PathRequest(
      host: "127.0.0.1",
      isBoundToHost: true,
      isOffering: place == 0,
      account: relay,
      identity: nil
    )
    let path = await agents[place].openPath(port, request)
    if let path { paths.append((place, path.id)) }
    return path
  }

  func closePaths() async {
    for (place, id) in paths { await agents[place].closePath(id) }
    paths = []
  }

  // MARK: Calls

  /// A call over a network; returns what went wrong, or nil, and the seconds until both sides had a
  /// call.
  func call(over conditions: NetworkConditions, seed: UInt64, _ only: Course?) async throws -> (
    String?, Double?
  ) {
    random = SeededGenerator(seed: seed)
    events = [[], [], []]
    network.withLock { $0 = Network(conditions, seed: seed, from: MonotonicClock.now()) }
    // A relayed check has four ways to go, and its response four: one of 17 comes through where a
    // third is lost.
    let courses = Course.allCases.filter { $0 != .relayed || conditions.outages.isEmpty }
    let course = only ?? courses[Int(seed % UInt64(courses.count))]
    var seconds: Double?
    var fault: String?
    do {
      try await go(course, &seconds)
    } catch let error as Fault {
      fault = error.text
      await hangUpAll()
    }
    await closePaths()
    // In half a minute a request is sent seven times. A path is looked for during a few seconds: of
    // relayed calls the number counts alone where losses come in bursts of packets.
    let isCutOff =
      course == .relayed && conditions.lossBurst > 1
      || network.withLock { $0.longestLosses >= 7 }
    // Nothing of the call may be left over for the next one.
    _ = await wait(70)
    if fault == nil { fault = faultOfEnds() }
    counts[course, default: (0, 0)].all += 1
    if isCutOff, fault != nil { counts[course, default: (0, 0)].cutOff += 1 }
    return (isCutOff ? nil : fault.map { "\(course): \($0)" }, seconds)
  }

  // Also what one side alone takes for a call.
  private func hangUpAll() async {
    for (place, events) in events.enumerated() {
      for event in events {
        switch event {
        case .incoming(let id, _), .ringing(let id), .established(let id, _):
          await agents[place].hangUp(id)
        default: break
        }
      }
    }
  }

  private func faultOfEnds() -> String? {
    for place in events.indices {
      let ended = events[place].compactMap {
        if case .ended(let id, _) = $0 { id } else { nil }
      }
      if Set(ended).count < ended.count { return "a call ended twice" }
    }
    return nil
  }

  private func go(_ course: Course, _ seconds: inout Double?) async throws {
    switch course {
    case .cancel: try await cancel()
    case .decline: try await decline()
    case .cancelWhileAnswered: try await cancelWhileAnswered()
    case .relayed: seconds = try await relayed()
    case .callerHangsUp, .calleeHangsUp, .hold, .holds, .long, .transfer:
      let begin = MonotonicClock.now()
      let (alice, bob) = try await talk(from: 0, to: 1, answeringWithin: 0)
      seconds = Double(MonotonicClock.now().nanoseconds(since: begin)) / 1e9
      try await go(on: course, alice, bob)
    }
  }

  private func go(on course: Course, _ alice: Side, _ bob: Side) async throws {
    switch course {
    case .hold: try await hold(alice, bob)
    case .holds: try await holds(alice, bob)
    case .long: _ = await wait(3_600)
    case .transfer:
      return try await Bool.random(using: &random) ? transfer(alice, bob) : transfer(bob, alice)
    case .callerHangsUp, .calleeHangsUp, .cancel, .cancelWhileAnswered, .decline, .relayed:
      break
    }
    await pause(10)
    let isCallees = course == .calleeHangsUp
    try await hangUp(isCallees ? bob : alice, tells: isCallees ? alice : bob)
  }
}

/// Something that must not happen in a call.
struct Fault: Error {
  let text: String

  init(_ text: String) {
    self.text = text
  }
}
