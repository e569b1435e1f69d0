import Foundation
import MediaCore
import Simulation
import Testing

@testable import VoiceStream

/// Two streams that talk to each other in virtual time: real codecs, real packets, no I/O.
///
/// Each turn is 2.5 ms: both microphones deliver, both loudspeakers pull, datagrams arrive after
/// the delay that `network` gives them (nil loses them).
struct VirtualCall: ~Copyable {
  var near: VoiceStream
  var far: VoiceStream
  var now = MonotonicInstant(nanoseconds: 1_000_000_000)
  var nearHeard: [Float] = []
  var farHeard: [Float] = []
  var packets = 0
  private(set) var newestNumberOfFarSide: UInt16 = 0

  private var towardsFar: [(at: Int64, bytes: [UInt8])] = []
  private var towardsNear: [(at: Int64, bytes: [UInt8])] = []
  private var datagram = ByteBuffer(repeating: 0, count: 1_500)
  private var samples = SampleBuffer(repeating: 0, count: 120)
  private var frame = 0

  init(_ configuration: StreamConfiguration) throws {
    var other = configuration
    other.ssrc = configuration.ssrc &+ 1
    other.seed = configuration.seed &+ 99
    let here = try VoiceStream(configuration)
    let there = try VoiceStream(other)
    near = here
    far = there
  }

  /// A voice-like sound: three harmonics of 150 Hz, swelling four times a second.
  static func voice(at frame: Int) -> Float {
    let time = Double(frame) / 48_000
    let loudness = 0.5 + 0.5 * sin(2 * .pi * 4 * time)
    let tone = sin(2 * .pi * 150 * time) + 0.5 * sin(2 * .pi * 300 * time)
    return Float(0.2 * loudness * (tone + 0.3 * sin(2 * .pi * 1_050 * time)))
  }

  mutating func run(
    milliseconds: Int,
    reportDelay: Double = 5,
    network: (Int) -> Double? = { _ in 5 },
    isMuted: Bool = false
  ) {
    for _ in 0..<milliseconds * 2 / 5 {
      for index in 0..<120 { samples[index] = Self.voice(at: frame + index) }
      frame += 120
      near.push(samples, count: 120, isMuted: isMuted)
      far.push(samples, count: 120, isMuted: isMuted)
      transmit(network, reportDelay)
      deliver()
      play()
      now = now.advanced(byNanoseconds: 2_500_000)
    }
  }

  private mutating func transmit(_ network: (Int) -> Double?, _ reportDelay: Double) {
    while let length = near.nextPacket(into: &datagram) {
      packets += 1
      if let delay = network(packets) { towardsFar.append((arrival(delay), copy(length))) }
    }
    while let length = far.nextPacket(into: &datagram) {
      newestNumberOfFarSide = UInt16(datagram[2]) << 8 | UInt16(datagram[3])
      packets += 1
      if let delay = network(packets) { towardsNear.append((arrival(delay), copy(length))) }
    }
    let wall = 1_700_000_000_000_000_000 + now.nanoseconds
    if let length = near.nextReport(
      into: &datagram,
      at: now,
      wallNanoseconds: wall,
      isGoodbye: false
    ) {
      towardsFar.append((arrival(reportDelay), copy(length)))
    }
    if let length = far.nextReport(
      into: &datagram,
      at: now,
      wallNanoseconds: wall,
      isGoodbye: false
    ) {
      towardsNear.append((arrival(reportDelay), copy(length)))
    }
  }

  private func arrival(_ delay: Double) -> Int64 { now.nanoseconds + Int64(delay * 1e6) }

  private func copy(_ length: Int) -> [UInt8] { (0..<length).map { datagram[$0] } }

  private mutating func deliver() {
    let instant = now
    let arrival = ArrivalTime(instant: instant, playback: instant, wait: 0)
    for (at, bytes) in towardsFar where at <= now.nanoseconds {
      far.receive(ByteBuffer(bytes), length: bytes.count, at: arrival)
    }
    for (at, bytes) in towardsNear where at <= now.nanoseconds {
      near.receive(ByteBuffer(bytes), length: bytes.count, at: arrival)
    }
    towardsFar.removeAll { $0.at <= instant.nanoseconds }
    towardsNear.removeAll { $0.at <= instant.nanoseconds }
  }

  private mutating func play() {
    for index in 0..<120 { samples[index] = 0 }
    near.render(addingTo: &samples, count: 120, at: now)
    for index in 0..<120 { nearHeard.append(samples[index]) }
    for index in 0..<120 { samples[index] = 0 }
    far.render(addingTo: &samples, count: 120, at: now)
    for index in 0..<120 { farHeard.append(samples[index]) }
  }
}

struct VoiceStreamTests {
  static func configuration(
    _ codec: StreamConfiguration.Codec = .opus,
    frames: Int = 480
  ) -> StreamConfiguration {
    var configuration = StreamConfiguration(
      codec: codec,
      sendPayloadType: 96,
      receivePayloadType: 96,
      ssrc: 1_000,
      seed: 0xFFFF_FFF0
    )
    configuration.packetFrames = frames
    configuration.bitrate = 64_000
    return configuration
  }

  private static func power(_ samples: ArraySlice<Float>) -> Float {
    samples.reduce(0) { $0 + $1 * $1 } / Float(max(1, samples.count))
  }

  private static let said = power((0..<48_000).map { VirtualCall.voice(at: $0) }[...])

  @Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
  func voiceArrivesWithItsPowerBothWays(frames: Int) throws {
    var call = try VirtualCall(Self.configuration(frames: frames))
    call.run(milliseconds: 3_000)
    for heard in [call.nearHeard, call.farHeard] {
      #expect(abs(Self.power(heard.suffix(48_000)) / Self.said - 1) < 0.2)
    }
    let statistics = call.near.takeStatistics(at: call.now)
    #expect(statistics.packetsLost == 0 && statistics.packetsLate == 0)
    #expect(statistics.concealedFrames == 0)
  }

  @Test(arguments: [StreamConfiguration.Codec.pcmu, .pcma])
  func telephoneCodecsCarryTheVoice(codec: StreamConfiguration.Codec) throws {
    var call = try VirtualCall(Self.configuration(codec, frames: 960))
    call.run(milliseconds: 3_000)
    #expect(abs(Self.power(call.nearHeard.suffix(48_000)) / Self.said - 1) < 0.3)
  }

  @Test func mutedStreamSendsSilence() throws {
    var call = try VirtualCall(Self.configuration())
    call.run(milliseconds: 2_000, isMuted: true)
    #expect(Self.power(call.farHeard.suffix(24_000)) < 1e-7)
  }

  @Test func streamThatMayNotSendSendsNoVoice() throws {
    var configuration = Self.configuration()
    configuration.maySend = false
    var call = try VirtualCall(configuration)
    call.run(milliseconds: 8_000)
    let near = call.near.takeStatistics(at: call.now)
    #expect(near.packetsSent == 0 && Self.power(call.farHeard[...]) == 0)
  }

  /// The round-trip time shows how much of the delay is the path's.
  @Test func longPathIsNotMadeLongerForStragglers() throws {
    func target(delay: Double) throws -> Double {
      var call = try VirtualCall(Self.configuration())
      call.run(milliseconds: 20_000, reportDelay: delay) { $0 % 700 == 0 ? delay + 60 : delay }
      return Double(call.near.takeStatistics(at: call.now).playoutTargetNanoseconds) / 1e6
    }
    #expect(try target(delay: 5) > 55)
    #expect(try target(delay: 200) < 20)
  }

  @Test func reportsGiveRoundTripLossAndJitter() throws {
    var call = try VirtualCall(Self.configuration())
    // Every tenth packet of the two interleaved directions is lost.
    call.run(milliseconds: 12_000) { $0 % 20 < 2 ? nil : 5 }
    let statistics = call.near.takeStatistics(at: call.now)
    // 5 ms there, 5 ms back, and a turn of the loop on each side.
    #expect(statistics.roundTripNanoseconds > 9_000_000)
    #expect(statistics.roundTripNanoseconds < 18_000_000)
    let share =
      Double(statistics.packetsLost)
      / Double(statistics.packetsLost + statistics.packetsReceived)
    #expect(abs(share - 0.1) < 0.02)
    #expect(abs(Double(statistics.farFractionLost) / 256 - 0.1) < 0.05)
    #expect(statistics.recoveredFrames + statistics.concealedFrames > 0)
  }

  @Test func tenSecondsOfBlackoutEndWithTheVoiceBack() throws {
    var call = try VirtualCall(Self.configuration())
    call.run(milliseconds: 2_000)
    call.run(milliseconds: 10_000) { _ in nil }
    #expect(Self.power(call.farHeard.suffix(24_000)) < Self.said / 100)
    call.run(milliseconds: 3_000)
    #expect(abs(Self.power(call.farHeard.suffix(48_000)) / Self.said - 1) < 0.2)
  }

  @Test func captureGapIsAGapOnTheFarSideAndNotAShift() throws {
    var call = try VirtualCall(Self.configuration())
    call.run(milliseconds: 7_000)
    let before = call.far.takeStatistics(at: call.now).playoutDelayNanoseconds
    call.near.skip(9_600)
    // The clock went on while nothing was captured.
    call.now = call.now.advanced(byNanoseconds: 200_000_000)
    call.run(milliseconds: 3_000)
    let after = call.far.takeStatistics(at: call.now).playoutDelayNanoseconds
    #expect(abs(after - before) < 6_000_000)
  }

  @Test func sequenceAndTimestampWrapUnheard() throws {
    // The seed puts the first sequence number 15 before the wrap, the timestamp at 65535 of 2^32.
    var call = try VirtualCall(Self.configuration())
    call.run(milliseconds: 2_000)
    let statistics = call.far.takeStatistics(at: call.now)
    #expect(statistics.packetsLost == 0)
    #expect(statistics.concealedFrames == 0)
  }

  @Test(arguments: UInt64(1)...4)
  func randomDatagramsAreSurvived(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var configuration = Self.configuration()
    configuration.sendRedundancyPayloadType = 97
    configuration.receiveRedundancyPayloadType = 97
    configuration.adaptsPackets = true
    var call = try VirtualCall(configuration)
    call.run(milliseconds: 500)
    for _ in 0..<5_000 {
      // Where the far side's numbering is: it began at the seed and sends a hundred a second, or
      // two.
      let newest = call.newestNumberOfFarSide
      var bytes = (0..<Int.random(in: 1...300, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      if bytes.count > 12, Bool.random(using: &random) {
        bytes[0] = 0x80
        // Voice, copies of it, an extended report, of the source that is heard and about the one
        // that is sent.
        bytes[1] = [96, 97, 207].randomElement(using: &random) ?? 96
        if bytes[1] == 207 {
          bytes = Array(bytes.prefix(bytes.count / 4 * 4))
          let words = UInt8(bytes.count / 4 - 1)
          bytes.replaceSubrange(2..<8, with: [0, words, 0, 0, 3, 0xE9])
          if words > 4 {
            bytes.replaceSubrange(8..<16, with: [1, 0, 0, words - 2, 0, 0, 3, 0xE8])
          }
        } else {
          let number = newest &+ UInt16.random(in: 0...20, using: &random) &- 10
          bytes.replaceSubrange(2..<4, with: [UInt8(number >> 8), UInt8(number & 0xFF)])
          bytes.replaceSubrange(8..<12, with: [0, 0, 3, 0xE9])
        }
      }
      call.near.receive(
        ByteBuffer(bytes),
        length: bytes.count,
        at: ArrivalTime(instant: call.now, playback: call.now, wait: 0)
      )
      if Int.random(in: 0..<10, using: &random) == 0 { call.run(milliseconds: 3) }
    }
    call.run(milliseconds: 4_000)
    #expect(abs(Self.power(call.farHeard.suffix(24_000)) / Self.said - 1) < 0.3)
    #expect(abs(Self.power(call.nearHeard.suffix(24_000)) / Self.said - 1) < 0.3)
  }

  @Test func packetsFollowALinkThatTurnsBadAndGoodAgain() throws {
    var configuration = StreamConfiguration.opus(ssrc: 1_000, seed: 4, withCopies: true)
    configuration.adaptsPackets = true
    configuration.complexity = 0
    var call = try VirtualCall(configuration)
    call.run(milliseconds: 12_000)
    var near = call.near.takeStatistics(at: call.now)
    #expect(near.packetFrames == 120 && near.redundancyDepth == 0)
    let before = call.far.takeStatistics(at: call.now)
    #expect(before.concealedFrames < 960 && before.packetsLate == 0)

    // Three packets in a row of each direction.
    call.run(milliseconds: 12_000) { $0 % 60 < 6 ? nil : 5 }
    near = call.near.takeStatistics(at: call.now)
    #expect(near.packetFrames == 480 && near.redundancyDepth == 3)
    #expect(near.lookAheadNanoseconds == 6_500_000)
    let settled = call.far.takeStatistics(at: call.now)
    call.run(milliseconds: 12_000) { $0 % 60 < 6 ? nil : 5 }
    let lossy = call.far.takeStatistics(at: call.now)
    let lost = (lossy.packetsLost - settled.packetsLost) * 480
    #expect(lost > 30_000 && lossy.concealedFrames - settled.concealedFrames < lost / 20)

    call.run(milliseconds: 120_000)
    near = call.near.takeStatistics(at: call.now)
    #expect(near.packetFrames == 120 && near.redundancyDepth == 0)
  }

  /// Three copies mend bursts of seven packets, since the last one is sent eight packets later.
  @Test func burstsAreMendedThatAreLongerThanThereAreCopies() throws {
    var configuration = StreamConfiguration.opus(ssrc: 1_000, seed: 4, withCopies: true)
    configuration.adaptsPackets = true
    configuration.complexity = 0
    var call = try VirtualCall(configuration)
    let network: (Int) -> Double? = { $0 % 150 < 14 ? nil : 5 }
    call.run(milliseconds: 12_000, network: network)
    let settled = call.far.takeStatistics(at: call.now)
    call.run(milliseconds: 12_000, network: network)
    let lossy = call.far.takeStatistics(at: call.now)
    let lost = (lossy.packetsLost - settled.packetsLost) * 480
    #expect(call.near.takeStatistics(at: call.now).redundancyDepth == 3)
    #expect(lost > 50_000 && lossy.concealedFrames - settled.concealedFrames < lost / 20)
  }

  /// The encoder does not predict from packets that were not sent.
  @Test(arguments: [(120, 10), (240, 10), (480, 10), (960, 10), (120, 0), (960, 0)])
  func noiseInAPauseIsNoLouderThanItIs(frames: Int, complexity: Int) throws {
    // -57 dBFS.
    let packets = try PacketScene.voice(
      seconds: 12,
      frames: frames,
      silentFrom: 2,
      to: 11,
      noise: 0.00245,
      usesDTX: true,
      complexity: complexity
    )
    let pause = packets.count { (4_000..<11_000).contains($0.at) }
    #expect(pause < 7_000 * 48 / frames / 4, "most of the pause is not sent: \(pause)")
    var scene = try PacketScene()
    scene.play(packets, until: 12_000)
    let loudest = scene.loudest(from: 3_000, to: 10_900)
    print("packets of \(frames) frames: at most \(loudest) dBFS")
    #expect(loudest < -45)
    #expect(scene.loudness(from: 11_300, to: 11_900) > 0.5, "the voice comes back")
  }

  @Test func discontinuousTransmissionSendsLittleInSilence() throws {
    var configuration = Self.configuration(frames: 960)
    configuration.usesDiscontinuousTransmission = true
    configuration.bitrate = 24_000
    var call = try VirtualCall(configuration)
    call.run(milliseconds: 2_000)
    let talking = call.packets
    call.run(milliseconds: 10_000, isMuted: true)
    #expect(call.packets - talking < 250)
    #expect(call.near.takeStatistics(at: call.now).concealedFrames < 9_600)
  }
}
