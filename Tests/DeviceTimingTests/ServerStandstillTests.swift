import DeviceTiming
import MediaCore
import Testing

/// A sound server that gets no processor time now and then.
///
/// It begins the cycle that it missed late, and the next one at once, as jackd does.
@Suite struct ServerStandstillTests {
  private static let period: Int64 = 8_000_000 / 3

  /// The server, with a program that is woken by each cycle, or by its clock a quarter of a period
  /// after it expected one.
  private struct Server {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var clock = DeviceClock(period: 128, rate: .voice)
    var queued = 256
    var taken: Int64 = 0
    var now: Int64 = 0
    var runsDry = 0
    /// Frames written while the server stood still.
    var writtenMeanwhile = 0
    /// Difference between the device's time and that of the cycles, in nanoseconds, at each cycle.
    var phases: [Int64] = []

    private var isDry = false
    private var isBehind = false

    /// Takes the next block, which then sounds.
    private mutating func take() {
      if queued < 128 {
        runsDry += 1
        isDry = true
      }
      queued = max(0, queued - 128)
      taken += 128
    }

    private mutating func write(at instant: MonotonicInstant) -> Int {
      let age = fill.age(at: instant, queued: queued)
      clock.update(frames: taken, age: age, isDry: queued == 0, at: instant)
      let frames = fill.framesToWrite(queued: queued, at: instant)
      queued += frames
      fill.noteWriting(queued: queued)
      if isDry {
        fill.noteUnderrun(at: instant)
        clock.noteRestart()
        isDry = false
      }
      return frames
    }

    /// Begins `periods` cycles, the last of which wakes the program.
    ///
    /// A write that is due after the next cycle is left to that one, which does it at once.
    private mutating func serve(_ periods: Int, next: Int64 = .max) {
      for _ in 0..<periods { take() }
      let tick = MonotonicInstant(nanoseconds: now + 20_000)
      let planned = fill.timeToWrite(queued: queued, at: tick)
      let due = isBehind && !fill.isCatchingUp ? tick : max(tick, planned)
      isBehind = due.nanoseconds >= next
      guard !isBehind else { return }
      _ = write(at: due)
      let cycles = SampleRate.voice.nanoseconds(of: Int(taken)) + due.nanoseconds - now
      phases.append(clock.now.nanoseconds - cycles)
      if fill.timeToLook(at: tick) != nil { fill.look(queued: queued) }
    }

    private mutating func look(until end: Int64) {
      var look = now + ServerStandstillTests.period * 5 / 4
      while look < end {
        writtenMeanwhile += write(at: MonotonicInstant(nanoseconds: look))
        look += ServerStandstillTests.period * 5 / 4
      }
    }

    mutating func run(cycles: Int) {
      for _ in 0..<cycles {
        now += ServerStandstillTests.period
        serve(1)
      }
    }

    /// Makes the server stand still for `nanoseconds` in addition to a period.
    mutating func standStill(nanoseconds: Int64) {
      let end = now + ServerStandstillTests.period + nanoseconds
      look(until: end)
      now = end
      serve(2)
    }

    /// Begins one cycle late, by less than a period, and the next one on time.
    mutating func beLate(nanoseconds: Int64) {
      look(until: now + ServerStandstillTests.period + nanoseconds)
      now += ServerStandstillTests.period + nanoseconds
      serve(1, next: now + ServerStandstillTests.period - nanoseconds)
      now += ServerStandstillTests.period - nanoseconds
      serve(1)
    }
  }

  /// Simulates five quiet seconds, then about a minute with a hundred standstills of 3 to 20 ms.
  ///
  /// `early` is the number of underruns up to the eleventh of these.
  private func busyMinute() -> (server: Server, early: Int) {
    var random = SeededGenerator(seed: 7)
    var server = Server()
    server.run(cycles: 1_875)
    var early = 0
    for round in 0..<100 {
      server.run(cycles: Int.random(in: 100...350, using: &random))
      server.standStill(nanoseconds: Int64.random(in: 3_000_000...20_000_000, using: &random))
      // One that was just started may want more than is planned for it.
      if round == 10 { (early, server.writtenMeanwhile) = (server.runsDry, 0) }
    }
    return (server, early)
  }

  @Test func oneBlockMoreBridgesTheCycleThatComesAtOnce() {
    let (server, early) = busyMinute()
    #expect(server.fill.goal == 320)
    // The first one is forgiven. One block less may be tried again after a quiet time.
    #expect((1...3).contains(early) && server.runsDry <= early + 1)
  }

  @Test func rareStandstillsAreForgiven() {
    var server = Server()
    server.run(cycles: 5_000)
    for _ in 0..<5 {
      server.standStill(nanoseconds: 9_000_000)
      server.run(cycles: 3_750)
    }
    #expect(server.fill.goal == 192 && server.runsDry == 5)
  }

  @Test func nothingIsWrittenWhileTheServerStandsStill() {
    let (server, _) = busyMinute()
    #expect(server.writtenMeanwhile == 0)
  }

  @Test func whatANewServerMayWantIsWritten() {
    var server = Server()
    server.run(cycles: 200)
    server.standStill(nanoseconds: 1_000_000_000)
    #expect(server.writtenMeanwhile > 0)
  }

  @Test func deviceTimeKeepsItsPlaceInTheCycle() {
    var server = Server()
    server.run(cycles: 1_875)
    for _ in 0..<3 {
      server.standStill(nanoseconds: 9_000_000)
      server.run(cycles: 400)
    }
    // It has learnt to bridge them by now.
    let settled = server.phases.count
    for round in 0..<20 {
      server.run(cycles: 100)
      server.standStill(nanoseconds: 3_000_000 + Int64(round) * 800_000)
    }
    let phases = server.phases.dropFirst(settled)
    let spread = (phases.max() ?? 0) - (phases.min() ?? 0)
    #expect(phases.count == 2_020 && spread < 100_000)
  }

  @Test func cycleThatComesAtOnceIsNoReasonToHurry() {
    var fill = PlaybackLevel(period: 128, capacity: 4_096, rate: .voice)
    var queued = 256
    var due = MonotonicInstant(nanoseconds: 0)
    func begin(_ nanoseconds: Int64, _ fill: inout PlaybackLevel) -> Int64 {
      queued = max(0, queued - 128)
      let tick = MonotonicInstant(nanoseconds: nanoseconds)
      due = fill.timeToWrite(queued: queued, at: tick)
      return due.nanoseconds - nanoseconds
    }
    for cycle in 1..<5_000 {
      _ = begin(Int64(cycle) * Self.period, &fill)
      queued += fill.framesToWrite(queued: queued, at: due)
      fill.noteWriting(queued: queued)
      #expect(!fill.isCatchingUp)
      if fill.timeToLook(at: due) != nil { fill.look(queued: queued) }
    }
    // 10 ms too late, for which the program looked, and the next one 0.1 ms after it.
    let late = 5_000 * Self.period + 10_000_000
    let look = MonotonicInstant(nanoseconds: late - 1_000_000)
    #expect(fill.framesToWrite(queued: queued, at: look) == 0)
    #expect(begin(late, &fill) > 1_300_000 && fill.isCatchingUp)
    #expect(begin(late + 100_000, &fill) > 1_300_000 && fill.isCatchingUp)
    _ = begin(late + 100_000 + Self.period, &fill)
    #expect(!fill.isCatchingUp)
  }

  @Test func programThatWasLateIsNotTakenForAServerThatStoodStill() {
    var server = Server()
    server.run(cycles: 5_000)
    let late = MonotonicInstant(nanoseconds: server.now + 5 * Self.period + 300_000)
    _ = server.fill.timeToWrite(queued: 16, at: late)
    #expect(!server.fill.isCatchingUp)
  }

  // A server that lost less than a period keeps its time. One block is queued, or two. One that
  // lost more than seven eighths is taken for one that lost a whole cycle.
  @Test(arguments: [false, true]) func cycleThatIsALittleLateCostsNothing(hasTwoBlocks: Bool) {
    var server = Server()
    server.run(cycles: 5_000)
    for _ in 0..<(hasTwoBlocks ? 2 : 0) {
      server.standStill(nanoseconds: 9_000_000)
      server.run(cycles: 300)
    }
    let before = (goal: server.fill.goal, runsDry: server.runsDry)
    for share in 3..<9 {
      server.beLate(nanoseconds: Self.period * Int64(share) / 10)
      server.run(cycles: 100)
    }
    #expect(before.goal == (hasTwoBlocks ? 320 : 192))
    #expect(server.fill.goal == before.goal && server.runsDry == before.runsDry)
  }

  @Test func blockThatWasTakenWithoutACycleHasNoAge() {
    var server = Server()
    server.run(cycles: 5_000)
    let later = MonotonicInstant(nanoseconds: server.now + 1_400_000)
    let queued = server.queued
    #expect(server.fill.age(at: later, queued: queued) != nil)
    #expect(server.fill.age(at: later, queued: queued - 128) == nil)
  }
}
