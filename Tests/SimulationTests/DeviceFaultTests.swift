import RealTime
import Simulation
import Testing
import VoiceEngine

/// Whole calls in virtual time, in which headsets are unplugged and plugged in again.
struct DeviceFaultTests {
  private static let sound: [Float] = (0..<96_000).map { Float($0 % 320) / 1_600 - 0.1 }

  private static func observe(
    near: [DeviceFault] = [],
    far: [DeviceFault] = [],
    seconds: Double
  ) throws -> [SimulatedCall.Observation] {
    var nearParty = SimulatedCall.Party()
    nearParty.card.faults = near
    var farParty = SimulatedCall.Party()
    farParty.card.sound = sound
    farParty.card.faults = far
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.complexity = 0
    let call = try SimulatedCall(
      near: nearParty,
      far: farParty,
      over: .lan,
      configuration: configuration,
      seed: 5
    )
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: seconds) { observations.append($0) }
    return observations
  }

  private static func meanDelay(
    _ observations: [SimulatedCall.Observation],
    from begin: Double,
    to end: Double
  ) -> Double {
    let delays = observations.filter { (begin..<end).contains($0.second) }.compactMap(\.delay)
    return delays.isEmpty ? .infinity : delays.reduce(0, +) / Double(delays.count)
  }

  @Test func headsetThatIsGoneForGoodEndsNothing() throws {
    let observations = try Self.observe(
      near: [DeviceFault(.unplugged, second: 5)],
      seconds: 10
    )
    let last = try #require(observations.last)
    #expect(last.delay == nil && last.engine.deviceChanges == 1)
    #expect(last.stream.packetsReceived > 900)
    // Silence goes out in its stead.
    #expect((last.far?.packetsReceived ?? 0) > 900 && last.far?.packetsLost == 0)
  }

  @Test(arguments: [StreamDirections.capture, .playback, .both])
  func headsetThatReturnsIsHeardWithTheDelayFromBefore(sides: StreamDirections) throws {
    let fault = DeviceFault(.unplugged, second: 8, milliseconds: 5_000, sides: sides)
    for isNear in [true, false] {
      let observations = try Self.observe(
        near: isNear ? [fault] : [],
        far: isNear ? [] : [fault],
        seconds: 18
      )
      let before = Self.meanDelay(observations, from: 6, to: 8)
      let after = Self.meanDelay(observations, from: 14, to: 18)
      #expect(abs(after - before) < 3, "\(before) ms before, \(after) ms after")
      #expect(observations.last?.stream.packetsLost == 0)
      if isNear { #expect(observations.last?.engine.deviceChanges == 2) }
    }
  }

  @Test(arguments: [60.0, 130, 200, 400])
  func programThatIsStoppedIsNotHeardLateAfterwards(milliseconds: Double) throws {
    // The voice never pauses: nothing can be caught up with in silence.
    let observations = try Self.observe(
      near: [DeviceFault(.stopped, second: 8, milliseconds: milliseconds)],
      seconds: 12
    )
    let before = Self.meanDelay(observations, from: 6, to: 8)
    let after = Self.meanDelay(observations, from: 9, to: 11)
    #expect(abs(after - before) < 5, "\(before) ms before, \(after) ms after")
    let concealed = (observations.last?.stream.concealedFrames ?? 0) / 48
    #expect(concealed < 60, "\(concealed) ms concealed")
  }

  @Test func microphoneThatIsAwayIsAGapOfItsLength() throws {
    let observations = try Self.observe(
      far: [DeviceFault(.unplugged, second: 4, milliseconds: 2_000, sides: .capture)],
      seconds: 10
    )
    let last = try #require(observations.last)
    // In virtual time both crystals agree: what was sent is what has passed, but for what is under
    // way.
    let sent = last.far?.packetsSent ?? 0
    #expect(sent > 900)
    let concealed = Double(last.stream.concealedFrames) / 48_000
    #expect(concealed < 0.1, "\(concealed) s")
  }

  @Test func headsetThatComesAndGoesAllTheTimeEndsNothing() throws {
    let faults = (0..<20).map {
      DeviceFault(.unplugged, second: 2 + Double($0) * 0.4, milliseconds: 50)
    }
    let observations = try Self.observe(near: faults, far: faults, seconds: 14)
    let last = try #require(observations.last)
    #expect(last.delay != nil && last.engine.deviceChanges >= 30)
    let before = Self.meanDelay(observations, from: 1, to: 2)
    let after = Self.meanDelay(observations, from: 12, to: 14)
    #expect(abs(after - before) < 6, "\(before) ms before, \(after) ms after")
  }

  // Edge case 10 of a receiver: the server stands still, is gone, and comes back.
  @Test func restartOfTheSoundServerLeavesNothingBehind() throws {
    let restart = [
      DeviceFault(.suspended, second: 8, milliseconds: 900),
      DeviceFault(.unplugged, second: 8.9, milliseconds: 1_000),
    ]
    for isNear in [true, false] {
      let observations = try Self.observe(
        near: isNear ? restart : [],
        far: isNear ? [] : restart,
        seconds: 18
      )
      let before = Self.meanDelay(observations, from: 6, to: 8)
      let after = Self.meanDelay(observations, from: 14, to: 18)
      #expect(abs(after - before) < 3, "\(before) ms before, \(after) ms after")
      let last = try #require(observations.last)
      #expect(last.stream.packetsLost == 0 && last.far?.packetsLost == 0)
      // A stalled server passes nothing: that is reported, not hidden.
      let quiet = observations.filter { (9.0..<9.9).contains($0.second) }.compactMap(\.delay)
      #expect(quiet.isEmpty || !isNear)
    }
  }
}
