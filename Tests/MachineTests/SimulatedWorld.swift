import Foundation
import MediaCore
import VoiceEngine

@testable import CallState
@testable import SidetonePhone

/// Several machines and the network between them, in virtual time.
///
/// All that happens follows from the seed; `skipped` steps are left out, so that a failure can be
/// made shorter.
final class SimulatedWorld {
  private struct Weather {
    var loss = 0.0
    var doubled = 0.0
    var spread: Int64 = 10_000_000
    /// Pairs of machines that do not reach each other.
    var parted: Set<Int> = []
  }

  private(set) var now: Int64 = 0
  var agenda = Agenda()
  private(set) var machines: [SimulatedMachine] = []
  var microphone = SampleBuffer(repeating: 0.1, count: SimulatedLeg.period)
  private(set) var events = 0
  private(set) var steps: [Int] = []
  private var generator: SeededGenerator
  private let seed: UInt64
  private let skipped: Set<Int>
  private var weather = Weather()
  private var isCalm = false
  private var nextTag = 1
  private var nextCall = 1
  private var nextPort: UInt16 = 10_000
  /// Times since which a call has had only one side, in nanoseconds, by dialog number.
  private var widowed: [Int: Int64] = [:]
  private(set) var fault: String?

  init(seed: UInt64, skipping skipped: Set<Int> = []) {
    self.seed = seed
    self.skipped = skipped
    generator = SeededGenerator(seed: seed)
    let count = 2 + Int(seed % 2)
    machines = (0..<count).map { SimulatedMachine($0, in: self) }
    for machine in machines { machine.start() }
    agenda.add(.step(0), at: 0)
  }

  func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

  func makeTag() -> Int {
    defer { nextTag += 1 }
    return nextTag
  }

  func makeUUID() -> UUID {
    defer { nextCall += 1 }
    return SimulatedMachine.uuid(CallID(high: 0, low: UInt64(nextCall)))
  }

  func makePort() -> UInt16 {
    nextPort = nextPort == 60_000 ? 10_000 : nextPort + 2
    return nextPort
  }

  static func host(of machine: Int) -> String { "10.0.0.\(machine + 1)" }

  static func machine(at host: String) -> Int? {
    host.split(separator: ".").last.flatMap { Int($0) }.map { $0 - 1 }
  }

  // MARK: Network

  private func isParted(_ one: Int, _ other: Int) -> Bool {
    weather.parted.contains(min(one, other) * 8 + max(one, other))
  }

  // When the copies of a packet arrive.
  private func arrivals(from sender: Int, to receiver: Int) -> [Int64] {
    guard !isParted(sender, receiver), generator.unit() >= weather.loss else { return [] }
    let copies = generator.unit() < weather.doubled ? 2 : 1
    return (0..<copies).map { _ in
      now + 1_000_000 + Int64(generator.unit() * generator.unit() * Double(weather.spread))
    }
  }

  func send(_ message: SIPMessage) {
    for time in arrivals(from: message.sender, to: message.receiver) {
      agenda.add(.message(message), at: time)
    }
  }

  func send(_ datagram: VoiceDatagram?) {
    guard let datagram, machines.indices.contains(datagram.receiver) else { return }
    for time in arrivals(from: datagram.sender, to: datagram.receiver) {
      agenda.add(.voice(datagram), at: time)
    }
  }

  private func arrive(_ datagram: VoiceDatagram) {
    let receiver = machines[datagram.receiver]
    if receiver.isRunning, let leg = receiver.leg(at: datagram.receiverPort) {
      leg.receive(datagram, at: MonotonicInstant(nanoseconds: now))
    } else {
      // The host says that the port is closed.
      machines[datagram.sender].leg(at: datagram.senderPort)?.noteRefusal()
    }
  }

  // MARK: Time

  /// Runs `count` more events, or fewer if an invariant breaks.
  func run(events count: Int) {
    let end = events + count
    while fault == nil, events < end, advance() {}
  }

  /// Runs all events until the time `end`, in nanoseconds.
  private func run(until end: Int64) {
    while fault == nil, now < end, advance() {}
  }

  private func advance() -> Bool {
    guard let (time, happening) = agenda.next() else { return false }
    now = time
    events += 1
    switch happening {
    case .step(let number): step(number)
    case .message(let message):
      let receiver = machines[message.receiver]
      guard receiver.isRunning else { return true }
      receiver.signalling.receive(message)
      receiver.drain()
    case .voice(let datagram): arrive(datagram)
    case .inProcess(let index, let process, let event):
      let machine = machines[index]
      guard machine.isRunning, machine.process == process else { return true }
      machine.handle(event)
      if case .watch = event { compare() }
    case .start(let index): machines[index].start()
    }
    for machine in machines {
      if let found = machine.fault() { note("machine \(machine.index): \(found)") }
    }
    return true
  }

  private func note(_ text: String) {
    if fault == nil { fault = "at \(Double(now) / 1e9) s, event \(events): \(text)" }
  }

  // MARK: Steps

  private func step(_ number: Int) {
    guard !isCalm else { return }
    // Each step has dice of its own, so that those that are left out change no other.
    let former = generator
    generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
    let pause = Int64(-log(1 - generator.unit()) * 3e9)
    agenda.add(.step(number + 1), at: now + 1 + pause)
    if !skipped.contains(number) {
      steps.append(number)
      let machine = machines[random(0..<machines.count)]
      if random(0..<8) == 0 { breakSomething(machine) } else { press(machine) }
      machine.drain()
    }
    generator = former
  }

  private func press(_ machine: SimulatedMachine) {
    guard machine.isRunning else { return }
    let calls = machine.phone.calls.map(\.uuid)
    let others = machines.indices.filter { $0 != machine.index }
    guard !calls.isEmpty, random(0..<4) != 0 else {
      return machine.call(others[random(0..<others.count)])
    }
    let call = calls[random(0..<calls.count)]
    let id = SimulatedMachine.callID(call)
    let other = calls[random(0..<calls.count)]
    switch random(0..<14) {
    case 0: machine.request(call, .end)
    case 1: machine.decide(.incoming(id, .decline))
    case 2, 3, 4: machine.decide(.incoming(id, .answer))
    case 5: machine.decide(.incoming(id, .endAndAnswer))
    case 6: machine.request(call, .answer)
    case 7, 8: machine.request(call, .setHeld(random(0..<2) == 0))
    case 9: machine.decide(.swap(to: id))
    case 10: machine.request(call, .setMuted(random(0..<2) == 0))
    case 11: machine.decide(.merge(id, SimulatedMachine.callID(other)))
    case 12: machine.decide(.separate(id))
    default: machine.request(call, .playDTMF(digits: "5", .singleTone))
    }
  }

  private func breakSomething(_ machine: SimulatedMachine) {
    let other = (machine.index + 1) % machines.count
    let pair = min(machine.index, other) * 8 + max(machine.index, other)
    switch random(0..<9) {
    case 0 where machine.isRunning:
      machine.kill()
      agenda.add(.start(machine: machine.index), at: now + Int64(random(1..<90)) * 1_000_000_000)
    case 1: machine.hasHeadset.toggle()
    case 2: weather.parted.insert(pair)
    case 3, 4: weather.parted = []
    case 5:
      let losses = [0, 0.01, 0.1, 0.3]
      weather.loss = losses[random(0..<losses.count)]
    case 6: weather.doubled = random(0..<3) == 0 ? 0.2 : 0
    case 7: weather.spread = [10_000_000, 100_000_000, 3_000_000_000][random(0..<3)]
    default: if machine.isRunning, random(0..<10) == 0 { machine.reset() }
    }
    if !weather.parted.isEmpty || weather.loss > 0.1 { widowed = [:] }
  }

  // MARK: Both sides

  /// Longest time that only one side may have a call, in nanoseconds.
  ///
  /// It covers silence of 30 s, an unanswered question, and requests that are given up after 32 s.
  private static let longestWidowhood: Int64 = 150_000_000_000

  // Once a second: a call that only one side has must end.
  private func compare() {
    var sides: [Int: Int] = [:]
    for machine in machines where machine.isRunning {
      for call in machine.phone.calls where call.establishedAt != nil {
        if let dialog = machine.dialogs[call.uuid] { sides[dialog, default: 0] += 1 }
      }
    }
    widowed = widowed.filter { sides[$0.key] == 1 }
    guard weather.parted.isEmpty, weather.loss <= 0.1 else { return widowed = [:] }
    for (dialog, count) in sides where count == 1 {
      let since = widowed[dialog, default: now]
      widowed[dialog] = since
      if now - since > Self.longestWidowhood { note("one side alone has call \(dialog)") }
    }
  }

  /// Repairs the network, lets everything settle, and compares both sides' holds of their calls.
  ///
  /// Then it ends all calls, after which every machine must be idle.
  func settle() {
    guard fault == nil else { return }
    isCalm = true
    weather = Weather()
    for machine in machines {
      machine.hasHeadset = true
      if !machine.isRunning { agenda.add(.start(machine: machine.index), at: now) }
    }
    run(until: now + 200_000_000_000)
    compareHolds()
    for machine in machines {
      for call in machine.phone.calls { machine.request(call.uuid, .end) }
      machine.drain()
    }
    run(until: now + 200_000_000_000)
    for machine in machines where !machine.isIdle { note("machine \(machine.index) is not idle") }
    for machine in machines where machine.records != machine.endedCalls {
      note("machine \(machine.index) has \(machine.records) records of \(machine.endedCalls) calls")
    }
  }

  private func compareHolds() {
    var held: [Int: [(isHeld: Bool, isHeldByFarSide: Bool)]] = [:]
    for machine in machines {
      for call in machine.phone.calls {
        guard call.establishedAt != nil else { return note("a call still rings: \(call.remote)") }
        guard let dialog = machine.dialogs[call.uuid] else { continue }
        let farHolds = machine.farHolds.contains(call.uuid)
        held[dialog, default: []].append((call.isHeld, farHolds))
      }
    }
    for (dialog, sides) in held {
      guard sides.count == 2 else { return note("one side alone has call \(dialog)") }
      // What the far side does is not shown while this side holds the call itself.
      for (mine, theirs) in [(sides[0], sides[1]), (sides[1], sides[0])] where !mine.isHeld {
        if mine.isHeldByFarSide != theirs.isHeld { note("the sides of \(dialog) differ: \(sides)") }
      }
    }
  }
}
