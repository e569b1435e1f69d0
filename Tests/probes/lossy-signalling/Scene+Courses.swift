import CVirtualLoop
import MediaCore
import RealTime
import SIPSignalling

/// The courses of calls.
extension Scene {
  func cancel() async throws {
    let id = try await agents[0].invite(address(of: 1), offer: offer(at: 0))
    let alice = Side(place: 0, id: id)
    await pause(3)
    await agents[0].hangUp(id)
    let isOver = await wait(40) { scene in
      scene.incoming(at: 1).map { scene.ends($0) == [.remoteHangUp] } ?? false
    }
    // A CANCEL waits for a response (RFC 3261 section 9.1).
    guard !isOver, let bob = incoming(at: 1), isHeardOf(alice) else { return }
    throw Fault("the callee rings on: \(ends(bob))")
  }

  private func ring() async throws -> (caller: Side, callee: Side) {
    let id = try await agents[0].invite(address(of: 1), offer: offer(at: 0))
    guard await wait(33, until: { $0.incoming(at: 1) != nil }), let bob = incoming(at: 1)
    else { throw Fault("no call came") }
    await pause(2)
    return (Side(place: 0, id: id), bob)
  }

  func decline() async throws {
    let (alice, bob) = try await ring()
    await agents[1].hangUp(bob.id, as: .declined)
    guard await wait(40, until: { !$0.ends(alice).isEmpty }) else {
      throw Fault("the caller does not learn that the call was declined")
    }
  }

  func cancelWhileAnswered() async throws {
    let (alice, bob) = try await ring()
    guard await agents[1].answer(bob.id, offer: offer(at: 1)) else {
      throw Fault("the call cannot be answered")
    }
    await pause(0.4)
    await agents[0].hangUp(alice.id)
    guard await wait(70, until: { !$0.ends(bob).isEmpty }) else {
      throw Fault("the callee talks to nobody")
    }
  }

  func hold(_ alice: Side, _ bob: Side) async throws {
    for isHeld in [true, false] {
      let before = agreements(bob).count
      await agents[alice.place].setHeld(alice.id, isHeld)
      let isTaken = await wait(33) { scene in
        scene.agreements(bob).dropFirst(before).contains { $0.maySend == !isHeld }
      }
      guard isTaken else { throw Fault("the callee does not learn of a hold: \(isHeld)") }
      await pause(3)
    }
  }

  /// Both sides change their minds, and after that agree on who hears whom.
  func holds(_ alice: Side, _ bob: Side) async throws {
    var isHeld = [false, false]
    for _ in 0..<Int.random(in: 2...8, using: &random) {
      let side = Bool.random(using: &random) ? alice : bob
      isHeld[side.place].toggle()
      await agents[side.place].setHeld(side.id, isHeld[side.place])
      if Bool.random(using: &random) { await pause(2) }
    }
    let isHeard = isHeld == [false, false]
    let isAgreed = await wait(70) { scene in
      [alice, bob].allSatisfy { side in
        scene.agreements(side).last.map { $0.maySend == isHeard && $0.mayReceive == isHeard }
          ?? false
      }
    }
    guard isAgreed else {
      let last = [alice, bob].map { agreements($0).last?.maySend }
      throw Fault(
        "held by \(isHeld), but the sides may send: \(last), \(ends(alice)), \(ends(bob))"
      )
    }
  }

  /// `first` asks `second` to call the third party, and hangs up once they talk.
  func transfer(_ first: Side, _ second: Side) async throws {
    await agents[first.place].transfer(first.id, to: TransferTarget(uri: address(of: 2)))
    let (new, carol) = try await follow(second, first)
    try await hangUp(first, tells: second)
    await pause(3)
    try await hangUp(new, tells: carol)
  }

  // What `second` does on behalf of `first`, who waits for the outcome.
  private func follow(_ second: Side, _ first: Side) async throws -> (caller: Side, callee: Side) {
    guard await wait(40, until: { $0.requestedTransfer(second) != nil }),
      let target = requestedTransfer(second)
    else { throw Fault("the transfer is not asked for") }
    let sides = try await talk(from: second.place, to: 2, target: target)
    await agents[second.place].reportTransfer(second.id, status: 200, reason: "OK")
    guard await wait(40, until: { $0.transferStatus(first) != nil }) else {
      throw Fault("the outcome of the transfer is not heard of")
    }
    return sides
  }

  // MARK: Relays

  /// Both sides ask a relay for an address, which one or both may get too late for the first offer
  /// and answer, and find the path by it; returns the time in seconds.
  func relayed() async throws -> Double {
    let unheard = UInt32.random(in: 0...3, using: &random)
    let port = unsafe relay_server_begin("alice", "secret", unheard)
    defer { relay_server_end() }
    var account = try SIPAccount("alice@127.0.0.1", password: "secret")
    account.relay = try RelayServer("turn:127.0.0.1:\(port)", login: "alice", password: "secret")
    let begin = MonotonicClock.now()
    let (alice, bob) = try await talk(from: 0, to: 1, answeringWithin: 0, relay: account)
    guard await wait(10, until: { $0.route(alice) != nil && $0.route(bob) != nil }) else {
      throw Fault("no path: \(ends(alice)) and \(ends(bob))")
    }
    let seconds = Double(MonotonicClock.now().nanoseconds(since: begin)) / 1e9
    let kinds = [alice, bob].compactMap { route($0)?.kind }
    guard kinds == [.relayed, .relayed] else { throw Fault("the paths are \(kinds)") }
    await pause(10)
    try await hangUp(alice, tells: bob)
    return seconds
  }
}
