import MediaCore
import Simulation
import Testing
import VoiceEngine

/// Calls over loudspeakers that take a whole block at the beginning of each cycle.
struct SoundServerTests {
  private static let period: FrameCount = 128

  // Half a millisecond on its way: what the far side takes to encode.
  private static var wire: NetworkConditions {
    var conditions = NetworkConditions.clean
    conditions.delayNanoseconds = 500_000
    return conditions
  }

  /// A silent call; `drift` sets the microphone's crystal apart from the loudspeaker's.
  private static func call(
    drift: Int = 0,
    lateness: Int64 = 60_000,
    faults: [DeviceFault] = [],
    farFaults: [DeviceFault] = []
  ) throws -> SimulatedCall {
    var party = SimulatedCall.Party()
    party.card.period = period
    party.card.takesBlocks = true
    party.card.captureDrift = drift
    party.latenessNanoseconds = lateness
    var near = party
    near.card.faults = faults
    party.card.faults = farFaults
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.packetFrames = 120
    configuration.complexity = 0
    return try SimulatedCall(
      near: near,
      far: party,
      over: wire,
      configuration: configuration,
      seed: 1
    )
  }

  private static func end(
    of call: SimulatedCall,
    seconds: Double
  ) throws -> (delay: Double, last: SimulatedCall.Observation) {
    var delays: [Double] = []
    var last: SimulatedCall.Observation?
    call.run(seconds: seconds) {
      last = $0
      if $0.second > seconds - 5, let delay = $0.delay { delays.append(delay) }
    }
    return (delays.reduce(0, +) / Double(max(1, delays.count)), try #require(last))
  }

  @Test func whatArrivesInMidCycleIsHeardACycleSooner() throws {
    let oneClock = try Self.end(of: try Self.call(), seconds: 40)
    // Crystals of their own: the microphone's periods say nothing of the loudspeaker's cycles.
    let twoClocks = try Self.end(of: try Self.call(drift: -1), seconds: 40)
    #expect(oneClock.delay < twoClocks.delay - 2.5)
    // A packet, a wait for the period's end, the look-ahead, half a cycle and the cycle in which it
    // sounds.
    #expect(oneClock.delay < 12.2)
    #expect(oneClock.last.engine.underruns == 0)
    #expect(oneClock.last.stream.concealedFrames == 0)
    // Half a cycle, and an eighth of one so that the queue does not run dry.
    #expect((1_300_000...1_800_000).contains(oneClock.last.engine.playbackFillNanoseconds))
  }

  @Test func threadsThatWakeLateAreGivenTheWholeCycle() throws {
    let late = try Self.end(of: try Self.call(lateness: 150_000), seconds: 60)
    #expect(late.last.engine.underruns == 0)
    #expect(late.last.engine.playbackFillNanoseconds >= 2_600_000)
  }

  @Test func stoppedProgramGoesOnAsBefore() throws {
    let faults = [DeviceFault(.stopped, second: 20, milliseconds: 50)]
    let before = try Self.end(of: try Self.call(faults: faults), seconds: 19)
    let after = try Self.end(of: try Self.call(faults: faults), seconds: 120)
    #expect(after.last.engine.underruns == 1)
    #expect(abs(after.delay - before.delay) < 1.5)
  }

  // Both headsets are one server's, which is stopped for 3 to 20 ms a hundred times a minute.
  @Test func serverThatIsStoppedCostsACycleAndNoMore() throws {
    var random = SeededGenerator(seed: 3)
    let faults = (0..<100).map { index in
      DeviceFault(
        .starved,
        second: 5 + 0.6 * Double(index) + Double.random(in: 0...0.5, using: &random),
        milliseconds: Double.random(in: 3...20, using: &random)
      )
    }
    let steady = try Self.end(of: try Self.call(), seconds: 65)
    let call = try Self.call(faults: faults, farFaults: faults)
    let stopped = try Self.end(of: call, seconds: 65)
    // The second of two cycles at once needs a block more. A quarter of a packet is the grain of
    // the target.
    #expect((2...3.4).contains(stopped.delay - steady.delay))
    #expect((4_000_000...4_400_000).contains(stopped.last.engine.playbackFillNanoseconds))
    #expect(stopped.last.engine.underruns <= 4)
  }
}
