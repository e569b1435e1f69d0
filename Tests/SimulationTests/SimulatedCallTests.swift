import Glibc
import MediaCore
import Testing
import VoiceEngine

@testable import Simulation

/// Whole calls in virtual time; the far side talks, the near side listens.
struct SimulatedCallTests {
  /// A voice-like sound of six seconds with pauses.
  private static let sound: [Float] = (0..<288_000).map { frame in
    let phase = Double(frame % 320) / 320
    let pulse = phase < 0.3 ? phase / 0.3 : (1 - phase) / 0.7
    let isSpeaking = frame / 12_000 % 6 != 5
    return isSpeaking ? Float(0.3 * pulse - 0.15) : 0
  }

  private static func configuration(_ frames: FrameCount = 480) -> StreamConfiguration {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.packetFrames = frames
    // Time is what these tests are about, not sound.
    configuration.complexity = 0
    return configuration
  }

  private static func call(
    over network: NetworkConditions,
    seed: UInt64 = 1,
    frames: FrameCount = 480,
    drift: Int = 0,
    faults: [DeviceFault] = [],
    threads: SimulatedCall.Threads = .one
  ) throws -> SimulatedCall {
    var far = SimulatedCall.Party()
    far.card.sound = sound
    far.card.captureDrift = drift
    far.card.playbackDrift = drift
    var near = SimulatedCall.Party()
    near.card.faults = faults
    return try SimulatedCall(
      near: near,
      far: far,
      over: network,
      configuration: configuration(frames),
      seed: seed,
      threads: threads
    )
  }

  private static func delays(
    _ observations: [SimulatedCall.Observation],
    from begin: Double,
    to end: Double
  ) -> [Double] {
    observations.filter { (begin..<end).contains($0.second) }.compactMap(\.delay)
  }

  /// FNV-1a over the bits of the samples.
  private static func checksum(_ samples: [Float]) -> UInt64 {
    samples.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1.bitPattern)) &* 0x100_0000_01B3 }
  }

  @Test(arguments: [NetworkConditions.wifiStalls, .lossy10, .awful])
  func sameSeedGivesTheSameSamples(network: NetworkConditions) throws {
    let first = try Self.call(over: network, seed: 7)
    first.run(seconds: 20)
    let second = try Self.call(over: network, seed: 7)
    second.run(seconds: 20)
    let other = try Self.call(over: network, seed: 8)
    other.run(seconds: 20)
    #expect(first.heard.count > 19 * 48_000)
    #expect(Self.checksum(first.heard) == Self.checksum(second.heard))
    #expect(Self.checksum(first.heard) != Self.checksum(other.heard))
  }

  /// A path that becomes slower, and then faster, between two moments at which the threads meet.
  private static let changingWay: NetworkConditions = {
    var conditions = NetworkConditions("changing", delayMilliseconds: 20, jitterMilliseconds: 2)
    conditions.routeChanges = [
      .init(second: 2.345, milliseconds: 60), .init(second: 5.678, milliseconds: -70),
    ]
    return conditions
  }()

  @Test(
    .timeLimit(.minutes(10)),
    arguments: [NetworkConditions.clean, .wifiStalls, .mobile, .awful, changingWay]
  )
  func twoThreadsChangeNothing(network: NetworkConditions) throws {
    let faults = [
      DeviceFault(.stopped, second: 2, milliseconds: 300),
      DeviceFault(.unplugged, second: 4, milliseconds: 700),
    ]
    var calls: [(observations: [SimulatedCall.Observation], heard: [Float])] = []
    for threads in [SimulatedCall.Threads.one, .two] {
      let call = try Self.call(over: network, drift: 50, faults: faults, threads: threads)
      #expect(call.isOnTwoThreads == (threads == .two && network != .clean && Self.hasProcessors))
      var observations: [SimulatedCall.Observation] = []
      // One is begun between two looks at the call.
      for seconds in [0.5, 3.03, 4.5] { call.run(seconds: seconds) { observations.append($0) } }
      calls.append((observations, call.heard))
      #expect(call.traffic.sent > 600)
    }
    #expect(calls[0].heard.count > 7 * 48_000)
    #expect(calls[0].heard == calls[1].heard)
    #expect(calls[0].observations.count > 70)
    #expect(calls[0].observations == calls[1].observations)
  }

  /// A packet that one end sends arrives at the very moment of a turn of the other end.
  @Test(.timeLimit(.minutes(10))) func whatArrivesAtTheMomentOfATurnIsThere() throws {
    var calls: [[Float]] = []
    for threads in [SimulatedCall.Threads.one, .two] {
      var far = SimulatedCall.Party()
      far.card.sound = Self.sound
      far.card.period = 120
      far.latenessNanoseconds = 0
      var near = SimulatedCall.Party()
      near.card.period = 120
      near.latenessNanoseconds = 0
      let call = try SimulatedCall(
        near: near,
        far: far,
        over: NetworkConditions("grid", delayMilliseconds: 20),
        configuration: Self.configuration(120),
        seed: 1,
        threads: threads
      )
      #expect(call.isOnTwoThreads == (threads == .two && Self.hasProcessors))
      call.run(seconds: 10)
      calls.append(call.heard)
    }
    #expect(calls[0].count > 9 * 48_000)
    #expect(calls[0] == calls[1])
  }

  @Test(.timeLimit(.minutes(10))) func aCallThatIsLetGoLeavesNoThread() throws {
    for seconds in [0, 0.02, 0.35] {
      let call = try Self.call(over: .mobile, threads: .two)
      call.run(seconds: seconds)
      call.run(seconds: -5)
      call.run(seconds: .nan)
      call.run(seconds: 0.1)
      #expect(call.isOnTwoThreads == Self.hasProcessors)
      #expect(call.traffic.sent > 0)
    }
  }

  private static let hasProcessors = sysconf(CInt(_SC_NPROCESSORS_ONLN)) > 1

  @Test(arguments: [120, 240, 480, 960])
  func aGoodNetworkAddsLittleBeyondThePacket(frames: FrameCount) throws {
    for network in [NetworkConditions.clean, .lan] {
      let call = try Self.call(over: network, frames: frames)
      var observations: [SimulatedCall.Observation] = []
      call.run(seconds: 20) { observations.append($0) }
      let delays = Self.delays(observations, from: 10, to: 20)
      let mean = delays.reduce(0, +) / Double(delays.count)
      let lookAhead = frames < 480 ? 2.5 : 6.5
      // The packet, the encoder, the way, two periods of the loudspeaker.
      let least = Double(frames) / 48 + lookAhead + Double(network.delayNanoseconds) / 1e6 + 5
      let jitter = Double(network.jitterNanoseconds) / 1e6
      #expect(mean - least < 4.5 + 3 * jitter, "\(network.name), \(frames) frames: \(mean) ms")
      #expect(observations.last?.stream.concealedFrames ?? .max < 4_800)
    }
  }

  @Test(arguments: [-200, 200])
  func driftIsResampledAwayWithoutASplice(drift: Int) throws {
    let call = try Self.call(over: .clean, drift: drift)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 180) { observations.append($0) }
    let end = try #require(observations.last)
    #expect(end.stream.removedFrames == 0)
    #expect(end.stream.addedFrames == 0)
    // The first slip of packets may find no reserve: a millisecond in three minutes is not heard.
    #expect(end.stream.concealedFrames < 48)
    let delays = Self.delays(observations, from: 60, to: 180).sorted()
    let width = (delays.last ?? .infinity) - (delays.first ?? 0)
    #expect(width < 2, "\(width) ms")
  }

  /// Clock drift moves packets across the playback callback period again and again.
  ///
  /// Each new slip costs part of a period, and all slips of a minute less than 6 ms.
  @Test(arguments: [(-200, 0), (-50, 0), (200, 0), (0, -200), (0, 200)], [0.2, 1, 1.8])
  func driftAloneInventsLessThan6ms(drift: (far: Int, microphone: Int), way: Double) throws {
    var far = SimulatedCall.Party()
    far.card.sound = Self.sound
    far.card.captureDrift = drift.far
    far.card.playbackDrift = drift.far
    far.latenessNanoseconds = 0
    var near = SimulatedCall.Party()
    near.card.captureDrift = drift.microphone
    near.latenessNanoseconds = 0
    let call = try SimulatedCall(
      near: near,
      far: far,
      over: NetworkConditions("way", delayMilliseconds: way),
      configuration: Self.configuration(240),
      seed: 1
    )
    call.run(seconds: 20)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    let begin = try #require(observations.first)
    let end = try #require(observations.last)
    #expect(end.stream.concealedFrames < 288)
    #expect(end.stream.removedFrames == begin.stream.removedFrames)
    #expect(end.stream.addedFrames == begin.stream.addedFrames)
  }

  /// After a near miss more is queued for the loudspeaker, so slowly that nothing is concealed for
  /// it.
  @Test(arguments: [2, 10, 11] as [UInt64])
  func threadsThatWakeLateAreNotHeard(seed: UInt64) throws {
    let call = try Self.call(over: .clean, seed: seed, frames: 240)
    call.run(seconds: 5)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    let begin = try #require(observations.first)
    let end = try #require(observations.last)
    #expect(end.stream.concealedFrames == begin.stream.concealedFrames)
    let fills = observations.map(\.engine.playbackFillNanoseconds)
    #expect(zip(fills, fills.dropFirst()).contains { $0 < $1 }, "no near miss")
  }

  @Test func afterAStallTheDelayIsBackWithinThreeSeconds() throws {
    var conditions = NetworkConditions.lan
    conditions.stallIntervalNanoseconds = 20_000_000_000
    conditions.stallNanoseconds = 400_000_000
    let call = try Self.call(over: conditions, seed: 3)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    let usual = Self.delays(observations, from: 3, to: 60).sorted()
    let median = usual[usual.count / 2]
    let away = observations.filter { $0.second > 3 && ($0.delay ?? median) > median + 10 }
    // At most three stalls of a minute, each with less than three seconds of more delay.
    #expect(away.count < 3 * 30, "\(Double(away.count) / 10) s above \(median) ms")
  }

  @Test func routeChangeIsFollowedAndNotKeptAsDepth() throws {
    let call = try Self.call(over: .routeChange)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 40) { observations.append($0) }
    let before = Self.delays(observations, from: 10, to: 19).sorted()
    let after = Self.delays(observations, from: 30, to: 40).sorted()
    let step = after[after.count / 2] - before[before.count / 2]
    #expect(abs(step - 200) < 10, "\(step) ms")
  }

  @Test(arguments: [DeviceFault.Kind.stopped, .suspended, .unplugged], [50.0, 200, 500, 2_000])
  func faultOfTheHeadsetLeavesNoLastingDelay(
    kind: DeviceFault.Kind,
    milliseconds: Double
  ) throws {
    let fault = DeviceFault(kind, second: 12, milliseconds: milliseconds)
    let call = try Self.call(over: .lan, faults: [fault])
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 30) { observations.append($0) }
    let before = Self.delays(observations, from: 5, to: 11).sorted()
    let after = Self.delays(observations, from: 22, to: 30).sorted()
    let more = after[after.count / 2] - before[before.count / 2]
    #expect(abs(more) < 3, "\(more) ms more")
  }

  private static func adaptingCall(
    over network: NetworkConditions,
    saying sound: [Float] = sound
  ) throws -> SimulatedCall {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1, withCopies: true)
    configuration.adaptsPackets = true
    configuration.complexity = 0
    var far = SimulatedCall.Party()
    far.card.sound = sound
    return try SimulatedCall(
      near: .init(),
      far: far,
      over: network,
      configuration: configuration,
      seed: 5
    )
  }

  @Test func copiesMendMostOfWhatIsLostInBursts() throws {
    let call = try Self.adaptingCall(over: .lossy5)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    let settled = try #require(observations.first { $0.second > 10 }).stream
    let end = try #require(observations.last).stream
    let lost = Double(end.packetsLost - settled.packetsLost) * 10
    let concealed = Double(end.concealedFrames - settled.concealedFrames) / 48
    #expect(lost > 1_500 && concealed < lost / 3, "\(concealed) of \(lost) ms")
    #expect(observations.last?.far?.redundancyDepth ?? 0 >= 2)
  }

  @Test(arguments: [NetworkConditions.clean, .lan])
  func whoGoesOverToShortPacketsIsAsFastAsWhoBeganWithThem(network: NetworkConditions) throws {
    func delay(_ call: consuming SimulatedCall) -> Double {
      var observations: [SimulatedCall.Observation] = []
      call.run(seconds: 30) { observations.append($0) }
      let delays = Self.delays(observations, from: 20, to: 30)
      return delays.reduce(0, +) / Double(delays.count)
    }
    let adapting = try delay(Self.adaptingCall(over: network))
    let short = try delay(Self.call(over: network, frames: 120))
    #expect(abs(adapting - short) < 0.5, "\(adapting) and \(short) ms")
  }

  /// Sound that was held back until the link was known is caught up by resampling.
  ///
  /// It is 2 % faster in a pause and 0.2 % in speech, which is not audible.
  @Test(arguments: [0.5, 0])
  func callOnACleanLinkBeginsWithShortPacketsAndStaysSo(pause: Double) throws {
    let silence = [Float](repeating: 0, count: Int(pause * 48_000))
    let call = try Self.adaptingCall(over: .clean, saying: silence + Self.sound)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    let delays = [(1.0, 3.0), (20.0, 60.0)].map {
      Self.delays(observations, from: $0, to: $1).sorted()
    }
    try #require(delays.allSatisfy { !$0.isEmpty })
    let medians = delays.map { $0[$0.count / 2] }
    #expect(abs(medians[0] - medians[1]) < 1, "\(medians) ms")
    #expect(medians.allSatisfy { $0 <= 15 }, "\(medians) ms")
    #expect(observations.allSatisfy { $0.far?.packetFrames ?? 120 == 120 })
    let end = try #require(observations.last)
    let settled = try #require(observations.first { $0.second > 2 }).stream
    #expect(end.stream.concealedFrames - settled.concealedFrames < 960)
    #expect(end.stream.removedFrames == 0)
  }

  @Test func packetsBecomeShortAgainAfterALossWithoutAClick() throws {
    var network = NetworkConditions.clean
    network.outages = [.init(second: 3, milliseconds: 100)]
    let call = try Self.adaptingCall(over: network)
    var observations: [SimulatedCall.Observation] = []
    call.run(seconds: 60) { observations.append($0) }
    // A click is a corner that is sharper than those of the sound itself.
    let heard = call.heard
    func sharpest(from: Double, to: Double) -> Float {
      var highest: Float = 0
      for index in Int(from * 48_000)..<Int(to * 48_000) {
        let corner = heard[index] - 2 * heard[index - 1] + heard[index - 2]
        highest = max(highest, abs(corner))
      }
      return highest
    }
    let long = try #require(observations.first { $0.far?.packetFrames == 480 }).second
    let again = observations.first { $0.second > long && $0.far?.packetFrames ?? 480 < 480 }
    let switched = try #require(again).second
    #expect(long < 6 && switched < 55, "\(long) s, \(switched) s")
    let around = sharpest(from: switched - 0.5, to: switched + 1)
    let elsewhere = max(
      sharpest(from: switched - 3, to: switched - 1),
      sharpest(from: switched + 2, to: switched + 4)
    )
    #expect(around < 1.2 * elsewhere, "\(around) against \(elsewhere) at \(switched) s")
  }
}
