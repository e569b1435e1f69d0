import CVirtualLoop
import Glibc
import MediaCore
import RealTime
import SIPSignalling
import Simulation
import Synchronization

// Calls of two user agents by UDP in virtual time, over networks that lose, double, delay and
// reorder datagrams: libre's own transactions and ours, its timers driven by the clock of its
// thread.
//
//   lossy-signalling NETWORK FIRST-SEED COUNT
//
// Prints each call that did not go as it should, and the times until calls were established. Ends
// with status 1 if there was any.

/// The directions of the network, by the port that they lead to; used by the loop's thread.
let directions = Mutex<[UInt16: Direction]>([:])

/// One direction of a call's network, and what became of its datagrams.
struct Direction: Sendable {
  var network: EmulatedNetwork
  var copy: MonotonicInstant?
  /// Datagrams lost in a row, now and at most.
  var lost = 0
  var longestLoss = 0

  mutating func arrival(at now: Int64, _ length: Int, _ number: CInt) -> Int64 {
    if number == 1 { return copy?.nanoseconds ?? -1 }
    let instant = MonotonicInstant(nanoseconds: now)
    let fate = network.fate(sentAt: instant, byteCount: length)
    copy = fate.copy
    lost = fate.arrival == nil ? lost + 1 : 0
    longestLoss = max(longestLoss, lost)
    return fate.arrival?.nanoseconds ?? -1
  }
}

func network(named name: String) -> NetworkConditions? {
  var bursts = NetworkConditions(
    "bursts",
    delayMilliseconds: 80,
    jitterMilliseconds: 30,
    lossShare: 0.12,
    lossBurst: 3
  )
  bursts.duplicateShare = 0.2
  bursts.reorderShare = 0.2
  var outages = NetworkConditions("outages", delayMilliseconds: 10, lossShare: 0.3)
  outages.outages = [
    .init(second: 0.05, milliseconds: 1_500), .init(second: 3, milliseconds: 2_000),
  ]
  return [bursts, outages, .lossy10, .awful, .wifiStalls].first { $0.name == name }
}

/// Caller and callee, on the loop's thread like their agents.
actor Scene {
  /// The actions of caller and callee.
  enum Course: CaseIterable {
    case callerHangsUp, calleeHangsUp, hold, cancel, cancelWhileAnswered, decline
  }

  private let agents: [UserAgent]
  private var ports: [UInt16] = []
  private var address = ""
  /// Events of the call at hand, of the caller and of the callee.
  private var events: [[SIPEvent]] = [[], []]
  private var outgoing: SIPCallID?
  /// Calls that went wrong as the network lost all that was said about something.
  private(set) var cutOff = 0
  private var waiting: CheckedContinuation<Void, Never>?
  private let timer: LoopTimer
  private var random = SeededGenerator(seed: 0)

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    // SAFETY: the agents' executor lives as long as the process.
    unsafe agents[0].unownedExecutor
  }

  init() {
    agents = ["alice", "bob"].map { user in
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
    address = "sip:bob@127.0.0.1:\(ports[1])"
    virtual_loop_begin { now, port, length, number in
      directions.withLock { $0[port]?.arrival(at: now, Int(length), number) ?? now }
    }
  }

  private func note(_ event: SIPEvent, at place: Int) {
    events[place].append(event)
    waiting?.resume()
    waiting = nil
  }

  /// Waits until `isDone`; false if that takes longer than `seconds`.
  private func wait(_ seconds: Double, until isDone: (isolated Scene) -> Bool = { _ in false })
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

  private var incoming: SIPCallID? {
    for case .incoming(let id, _) in events[1] { return id }
    return nil
  }

  private func isEstablished(_ place: Int) -> Bool {
    events[place].contains { if case .established = $0 { true } else { false } }
  }

  /// Ends of the call at hand: one that the network had cut off may end in the midst of it.
  private func ends(_ place: Int) -> [SIPEndReason] {
    let id = place == 0 ? outgoing : incoming
    return events[place].compactMap {
      if case .ended(id, let reason) = $0 { reason } else { nil }
    }
  }

  private func agreements(_ place: Int) -> [NegotiatedMedia] {
    events[place].compactMap { if case .media(_, let media) = $0 { media } else { nil } }
  }

  /// A call over a network; returns what went wrong, or nil, and the seconds until both sides had a
  /// call.
  func call(over network: NetworkConditions, seed: UInt64) async throws -> (String?, Double?) {
    random = SeededGenerator(seed: seed)
    events = [[], []]
    directions.withLock { directions in
      for (place, port) in ports.enumerated() {
        let seed = 2 &* seed &+ UInt64(place)
        directions[port] = Direction(network: EmulatedNetwork(network, seed: seed))
      }
    }
    let course = Course.allCases[Int(seed % UInt64(Course.allCases.count))]
    let begin = MonotonicClock.now()
    let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 20)
    let id = try await agents[0].invite(address, offer: offer)
    outgoing = id
    var seconds: Double?
    var fault = await go(course, id, offer, since: begin, &seconds)
    // In half a minute a request is sent seven times.
    let isCutOff = directions.withLock { $0.values.reduce(0) { $0 + $1.longestLoss } >= 7 }
    // Nothing of the call may be left over for the next one.
    _ = await wait(70)
    if fault == nil, ends(0).count + ends(1).count > 2 { fault = "a call ended twice" }
    if isCutOff, fault != nil { cutOff += 1 }
    return (isCutOff ? nil : fault.map { "\(course): \($0)" }, seconds)
  }

  private func go(
    _ course: Course,
    _ id: SIPCallID,
    _ offer: MediaOffer,
    since begin: MonotonicInstant,
    _ seconds: inout Double?
  ) async -> String? {
    let (alice, bob) = (agents[0], agents[1])
    if course == .cancel {
      _ = await wait(Double.random(in: 0...3, using: &random))
      await alice.hangUp(id)
      _ = await wait(40) { $0.incoming != nil && !$0.ends(1).isEmpty }
      // A CANCEL waits for a response (RFC 3261 section 9.1).
      guard incoming != nil, !events[0].isEmpty else { return nil }
      return ends(1) == [.remoteHangUp] ? nil : "the callee rings on: \(ends(1))"
    }
    guard await wait(33, until: { $0.incoming != nil }), let called = incoming else {
      return "no call came"
    }
    _ = await wait(Double.random(in: 0...2, using: &random))
    if course == .decline {
      await bob.hangUp(called, as: .declined)
      return await wait(40, until: { !$0.ends(0).isEmpty })
        ? nil : "the caller does not learn that the call was declined"
    }
    let answer = MediaOffer(host: "127.0.0.1", port: 5_000, packetMilliseconds: 20)
    let answered = MonotonicClock.now()
    guard await bob.answer(called, offer: answer) else { return "the call cannot be answered" }
    if course == .cancelWhileAnswered {
      _ = await wait(Double.random(in: 0...0.4, using: &random))
      await alice.hangUp(id)
      return await wait(70, until: { !$0.ends(1).isEmpty }) ? nil : "the callee talks to nobody"
    }
    guard await wait(33, until: { $0.isEstablished(0) && $0.isEstablished(1) }) else {
      return "established: \(isEstablished(0)) and \(isEstablished(1)), \(ends(0)) and \(ends(1))"
    }
    seconds = Double(MonotonicClock.now().nanoseconds(since: answered)) / 1e9
    if course == .hold {
      for isHeld in [true, false] {
        let before = agreements(1).count
        await alice.setHeld(id, isHeld)
        let isTaken = await wait(33) { (scene: isolated Scene) in
          scene.agreements(1).dropFirst(before).contains { $0.maySend == !isHeld }
        }
        guard isTaken else { return "the callee does not learn of a hold: \(isHeld)" }
        _ = await wait(Double.random(in: 0...3, using: &random))
      }
    }
    _ = await wait(Double.random(in: 0...10, using: &random))
    guard ends(0).isEmpty, ends(1).isEmpty else { return "ended: \(ends(0)) and \(ends(1))" }
    let (first, other) = course == .calleeHangsUp ? (1, 0) : (0, 1)
    await agents[first].hangUp(first == 0 ? id : called)
    return await wait(40, until: { !$0.ends(other).isEmpty })
      ? nil : "the other side does not learn of the end"
  }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let conditions = network(named: arguments[1]),
  let firstSeed = UInt64(arguments[2]), let count = UInt64(arguments[3]), count > 0
else { fatalError("usage: lossy-signalling NETWORK FIRST-SEED COUNT") }

let scene = Scene()
try await scene.begin()
var faults = 0
var times: [Double] = []
for seed in firstSeed..<firstSeed + count {
  let (fault, seconds) = try await scene.call(over: conditions, seed: seed)
  if let fault {
    faults += 1
    print("\(conditions.name), seed \(seed), \(fault)")
  }
  if let seconds { times.append(seconds) }
}
times.sort()
print("\(conditions.name): \(count) calls, \(faults) faults")
let cutOff = await scene.cutOff
print("\(cutOff) more went wrong, as the network cut them off")
if let worst = times.last {
  let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
  print("from answer to established: median \(median) s, 99 % \(late) s, worst \(worst) s")
}
if faults > 0 || UInt64(cutOff) * 10 > count { exit(1) }
