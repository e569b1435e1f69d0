import Foundation
import MediaCore
import RealTime
import Simulation
import Testing

@testable import RTP
@testable import VoiceStream

/// Tampered packets of real senders, which every receiver must survive.
///
/// The receiver never stops playing, nor is it silent for longer than the sound that was removed.
struct EdgeCaseTests {
  private static let headerLength = 12

  // MARK: 1, numbers that wrap

  @Test func sequenceAndTimestampWrapWithLossAndReorderingAcrossThem() throws {
    // Sequence 65500 and timestamp 2^32 - 22000 at first: both wrap within the first half second.
    let packets = try PacketScene.voice(seconds: 3, seed: 0xFFFF_AA10 << 16 | 0xFFDC)
    #expect(packets[36].sequenceNumber == 0)
    #expect(packets[45].timestamp > packets[46].timestamp)
    var scene = try PacketScene()
    let wire = packets.enumerated().compactMap { index, packet -> SentPacket? in
      if index == 35 || index == 45 { return nil }
      var packet = packet
      // One overtakes another exactly where the sequence wraps, and where the timestamp does.
      if index == 36 || index == 46 { packet.at += 12 }
      return packet
    }
    scene.play(wire, until: 3_000)
    #expect(scene.count().concealed < 80)
    #expect(scene.loudness(from: 1_000, to: 2_900) > 0.8)
  }

  // MARK: 2, another source

  @Test(arguments: [false, true])
  func anotherSourceTakesOverAndLatePacketsOfTheOldOneDoNotDisturb(isContinuous: Bool) throws {
    let old = try PacketScene.voice(seconds: 1.5, ssrc: 5, seed: 9)
    var new = try PacketScene.voice(seconds: 2, from: 1.5, ssrc: 6, seed: 123_456 << 16 | 7)
    let last = try #require(old.last)
    if isContinuous {
      for index in new.indices {
        new[index].sequenceNumber = last.sequenceNumber &+ UInt16(index + 1)
        new[index].timestamp = last.timestamp &+ UInt32(480 * (index + 1))
      }
    }
    // The old one's last packets come between the new one's first.
    var wire = old + new
    for index in old.indices.suffix(5) { wire[index].at += 33 }
    // With keys the far side's sources follow each other at once.
    var scene = try PacketScene { $0.isAuthenticated = true }
    scene.play(wire, until: 3_500)
    #expect(scene.loudness(from: 1_800, to: 3_400) > 0.8)
    #expect(scene.count().concealed < 250)
  }

  /// Without encryption, where anyone can send, a new source waits until the old one is silent.
  @Test func anotherSourceTakesOverAnOpenCallAfterASilence() throws {
    let old = try PacketScene.voice(seconds: 1.5, ssrc: 5, seed: 9)
    let new = try PacketScene.voice(seconds: 3, from: 1.5, ssrc: 6, seed: 7)
    var scene = try PacketScene()
    scene.play(old + new, until: 4_500)
    #expect(scene.loudness(from: 200, to: 1_400) > 0.8)
    #expect(scene.loudness(from: 2_300, to: 4_400) > 0.8)
  }

  /// A second source beside an active one is not played and changes no statistics.
  @Test func forgedSourcesDisturbNothing() throws {
    let voice = try PacketScene.voice(seconds: 3, ssrc: 5, seed: 9)
    let forged = try PacketScene.voice(seconds: 2.5, from: 0.5, ssrc: 66, seed: 3)
    var quiet = try PacketScene()
    quiet.play(voice, until: 3_000)
    var attacked = try PacketScene()
    attacked.play(voice + forged, until: 3_000)
    let (figures, expected) = (attacked.count(), quiet.count())
    #expect(figures == expected)
    #expect(attacked.loudness(from: 500, to: 2_900) == quiet.loudness(from: 500, to: 2_900))
  }

  // MARK: 3, jumps

  @Test(arguments: [1_440_000, -1_440_000, 172_800_000] as [Int64])
  func timestampJumpWithContinuousSequenceCostsAMoment(jump: Int64) throws {
    var packets = try PacketScene.voice(seconds: 4)
    for index in 200..<packets.count {
      packets[index].timestamp &+= UInt32(truncatingIfNeeded: jump)
    }
    var scene = try PacketScene()
    scene.play(packets, until: 4_000)
    #expect(scene.loudness(from: 2_300, to: 3_900) > 0.8)
    #expect(scene.count().concealed < 250)
  }

  @Test(arguments: [UInt16(50), 2_000, 20_000, 65_000])
  func sequenceJumpWithContinuousTimestampCostsAMoment(jump: UInt16) throws {
    var packets = try PacketScene.voice(seconds: 4)
    for index in 200..<packets.count { packets[index].sequenceNumber &+= jump }
    var scene = try PacketScene()
    scene.play(packets, until: 4_000)
    #expect(scene.loudness(from: 2_300, to: 3_900) > 0.8)
    #expect(scene.count().concealed < 250)
  }

  // MARK: 4, packets that should not be

  @Test func duplicatesEmptyAndForeignPacketsAreNotHeard() throws {
    let packets = try PacketScene.voice(seconds: 3)
    var wire: [SentPacket] = []
    for (index, packet) in packets.enumerated() {
      wire.append(packet)
      var extra = packet
      extra.at += Double(index % 9)
      switch index % 6 {
      case 0: break
      case 1: extra.bytes[20] ^= 0xFF
      case 2: extra.bytes.removeSubrange(Self.headerLength...)
      case 3: extra.bytes[1] = 33
      case 4: extra.bytes = [0x80, 200, 0, 1, 9, 9, 9, 9] + extra.bytes
      default: extra.bytes = Array(extra.bytes.prefix(7))
      }
      wire.append(extra)
    }
    var clean = try PacketScene()
    clean.play(packets, until: 3_000)
    var scene = try PacketScene()
    scene.play(wire, until: 3_000)
    #expect(scene.heard == clean.heard)
    // 0.8 is a decibel: more would be heard.
    #expect(scene.loudness(from: 500, to: 2_900) > 0.8)
  }

  @Test func copiesStandInForWhatIsLostWhoeverSendsThem() throws {
    // Every packet brings the two before it; two of three are lost.
    let plain = try PacketScene.voice(seconds: 6)
    var wire: [SentPacket] = []
    for index in plain.indices where index >= 2 {
      guard index < 100 || index % 3 == 0 else { continue }
      var packet = plain[index]
      let payloads = (0..<3).map { plain[index - 2 + $0].bytes.dropFirst(Self.headerLength) }
      var bytes = Array(packet.bytes.prefix(Self.headerLength))
      bytes[1] = bytes[1] & 0x80 | 97
      for (back, payload) in [(2, payloads[0]), (1, payloads[1])] {
        let rest = UInt32(480 * back) << 10 | UInt32(payload.count)
        bytes += [0x80 | 96, UInt8(rest >> 16), UInt8(rest >> 8 & 0xFF), UInt8(rest & 0xFF)]
      }
      bytes.append(96)
      for payload in payloads { bytes += payload }
      packet.bytes = bytes
      wire.append(packet)
    }
    var scene = try PacketScene()
    scene.play(wire, until: 5_900)
    let counted = scene.count()
    #expect(counted.recovered > 2_500 && counted.concealed < 100, "\(counted)")
    #expect(scene.loudness(from: 500, to: 5_800) > 0.8)
  }

  /// A redundant block with timestamp offset 0 and another payload than its packet's is ignored.
  @Test(arguments: [1, 3]) func copiesThatAreNoneAreNotPlayed(kept: Int) throws {
    let plain = try PacketScene.voice(seconds: 4)
    func heard(withForgery: Bool) throws -> [Float] {
      var wire: [SentPacket] = []
      for index in plain.indices where index >= 2 && (index < 100 || index % 3 < kept) {
        var packet = plain[index]
        let forgery = plain[index - 2].bytes.dropFirst(Self.headerLength)
        var bytes = Array(packet.bytes.prefix(Self.headerLength))
        bytes[1] = bytes[1] & 0x80 | 97
        if withForgery {
          bytes += [0x80 | 96, 0, UInt8(forgery.count >> 8), UInt8(forgery.count & 0xFF)]
        }
        bytes.append(96)
        if withForgery { bytes += forgery }
        packet.bytes = bytes + packet.bytes.dropFirst(Self.headerLength)
        wire.append(packet)
      }
      var scene = try PacketScene()
      scene.play(wire, until: 3_900)
      return scene.heard
    }
    #expect(try heard(withForgery: true) == heard(withForgery: false))
  }

  @Test func packetLongerThanAgreedIsPlayedInFull() throws {
    let packets = try PacketScene.voice(seconds: 3, frames: 2_880)
    var scene = try PacketScene { $0.packetFrames = 120 }
    scene.play(packets, until: 2_900)
    #expect(scene.count().concealed < 70 && scene.loudness(from: 500, to: 2_800) > 0.8)
  }

  // MARK: 5, other packets

  @Test func frameSizesAndModesChangeWithoutAGap() throws {
    // Each sender is one of its own: 2.5 and 5 ms are CELT, 60 ms is SILK or both.
    var wire: [SentPacket] = []
    var sequence: UInt16 = 100
    var timestamp: UInt32 = 48_000
    for (index, frames) in [960, 480, 2_880, 120, 240, 960].enumerated() {
      let part = try PacketScene.voice(seconds: 1.2, from: Double(index) * 1.2, frames: frames)
      for var packet in part {
        packet.sequenceNumber = sequence
        packet.timestamp = timestamp
        sequence &+= 1
        timestamp &+= UInt32(frames)
        wire.append(packet)
      }
    }
    var scene = try PacketScene()
    scene.play(wire, until: 7_200)
    // From short packets to long ones the first of these comes later by the difference.
    #expect(scene.count().concealed < 200)
    #expect(scene.loudness(from: 500, to: 7_000) > 0.75)
  }

  // MARK: 6, stalls, outages, another way

  @Test func burstAfterAStallLeavesNoDelay() throws {
    var packets = try PacketScene.voice(seconds: 6)
    for index in packets.indices where (200..<240).contains(index) { packets[index].at = 2_402.5 }
    var scene = try PacketScene()
    scene.play(packets, until: 2_000)
    let before = scene.count().delay
    scene.play(packets.filter { $0.at > 1_995 }, until: 5_900)
    #expect(scene.count().delay < before + 10)
    #expect(scene.loudness(from: 2_700, to: 5_800) > 0.8)
  }

  @Test func tenSecondsOfOutageEndWithTheVoiceBack() throws {
    let packets = try PacketScene.voice(seconds: 14).filter { $0.at < 2_000 || $0.at > 12_000 }
    var scene = try PacketScene()
    scene.play(packets, until: 14_000)
    #expect(scene.loudness(from: 6_000, to: 11_900) < 0.01)
    #expect(scene.loudness(from: 12_200, to: 13_900) > 0.8)
    #expect(scene.count().delay < 30)
  }

  @Test func slowerWayIsNotKeptAsDepth() throws {
    var packets = try PacketScene.voice(seconds: 12)
    for index in packets.indices where packets[index].at > 3_000 { packets[index].at += 200 }
    var scene = try PacketScene()
    scene.play(packets, until: 11_900)
    #expect(scene.count().delay < 30, "beyond the fastest packet of the new way")
    #expect(scene.loudness(from: 4_000, to: 11_800) > 0.8)
  }

  @Test func secondsWithoutAPacketAndThenAllAtOnceLeaveNoDelay() throws {
    var packets = try PacketScene.voice(seconds: 10)
    for index in packets.indices where (300..<550).contains(index) { packets[index].at = 5_502.5 }
    var scene = try PacketScene()
    scene.play(packets, until: 9_900)
    #expect(scene.count().delay < 40)
    #expect(scene.loudness(from: 6_500, to: 9_800) > 0.8)
  }

  // MARK: 7, silence

  @Test func minutesOfSilenceThenSpeech() throws {
    let packets = try PacketScene.voice(seconds: 124, silentFrom: 2, to: 122, usesDTX: true)
    #expect(packets.count < 2_000)
    var scene = try PacketScene()
    scene.play(packets, until: 124_000)
    #expect(scene.loudness(from: 60_000, to: 121_000) < 0.01)
    #expect(scene.loudness(from: 122_200, to: 123_900) > 0.8)
    #expect(scene.count().delay < 40)
  }

  @Test func thirtySecondsOfKeepAlivesOnlyAreSilentAndEndNothing() throws {
    var packets = try PacketScene.voice(seconds: 34).filter { $0.at < 2_000 || $0.at > 32_000 }
    let spoken = packets.count { $0.at < 2_000 }
    let first = packets[0].sequenceNumber
    // A keep-alive of an unknown payload type (RFC 6263 section 4.6) each five seconds, and the
    // voice after them.
    for index in spoken..<packets.count {
      packets[index].sequenceNumber = first &+ UInt16(index) &+ 5
    }
    for index in 0..<5 {
      var packet = SentPacket(
        at: 2_000 + 5_000 * Double(index + 1),
        bytes: [0x80, 126, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]
      )
      packet.sequenceNumber = first &+ UInt16(spoken + index)
      packets.append(packet)
    }
    var scene = try PacketScene()
    scene.play(packets, until: 31_900)
    #expect(scene.silence < 5_100, "what keeps alive is heard, if not aloud")
    scene.play(packets.filter { $0.at > 31_895 }, until: 34_000)
    #expect(scene.loudness(from: 6_000, to: 31_900) < 0.01)
    #expect(scene.loudness(from: 32_200, to: 33_900) > 0.8)
  }

  // MARK: 8, clocks

  @Test(arguments: [-5_000.0, 5_000])
  func soundCardThatIsHalfAPerCentOffIsBorne(drift: Double) throws {
    var packets = try PacketScene.voice(seconds: 60)
    for index in packets.indices { packets[index].at *= 1 + drift / 1e6 }
    var scene = try PacketScene()
    scene.play(packets, until: 59_000)
    let counted = scene.count()
    // A third of a second is too much or too little in all; more than 0.2 % of speech is not
    // resampled.
    #expect(counted.delay < 40 && counted.concealed < 800, "\(counted)")
    #expect(scene.loudness(from: 1_000, to: 58_900) > 0.8)
  }

  @Test func stepOfTheWallClockSpoilsNoRoundTrip() throws {
    var here = try VoiceStream(.opus(ssrc: 5, seed: 1))
    var there = try VoiceStream(.opus(ssrc: 6, seed: 2))
    var block = SampleBuffer(repeating: 0, count: 480)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var wall: Int64 = 1_700_000_000_000_000_000
    // Two turns of 10 ms each way.
    var wire: [(turn: Int, isToThere: Bool, bytes: [UInt8])] = []
    for turn in 0..<1_000 {
      let now = MonotonicInstant(nanoseconds: Int64(turn) * 10_000_000)
      // It is set back and ahead, by little and by much, while reports are under way.
      wall += 10_000_000 + [-30_000_000, 30_000_000, 7_200_000_000_000, 0, 0][turn % 5]
      for packet in wire where packet.turn == turn {
        let bytes = ByteBuffer(packet.bytes)
        let arrival = ArrivalTime(instant: now, playback: now, wait: 0)
        if packet.isToThere {
          there.receive(bytes, length: bytes.count, at: arrival)
        } else {
          here.receive(bytes, length: bytes.count, at: arrival)
        }
      }
      wire.removeAll { $0.turn <= turn }
      func send(_ length: Int, toThere isToThere: Bool) {
        wire.append((turn + 2, isToThere, (0..<length).map { datagram[$0] }))
      }
      for index in 0..<480 { block[index] = VirtualCall.voice(at: turn * 480 + index) }
      here.push(block, count: 480, isMuted: false)
      there.push(block, count: 480, isMuted: false)
      while let length = here.nextPacket(into: &datagram) { send(length, toThere: true) }
      while let length = there.nextPacket(into: &datagram) { send(length, toThere: false) }
      if let length = here.nextReport(
        into: &datagram,
        at: now,
        wallNanoseconds: wall,
        isGoodbye: false
      ) {
        send(length, toThere: true)
      }
      if let length = there.nextReport(
        into: &datagram,
        at: now,
        wallNanoseconds: wall,
        isGoodbye: false
      ) {
        send(length, toThere: false)
      }
      let known = here.takeStatistics(at: now).roundTripNanoseconds
      #expect(known == -1 || abs(known - 40_000_000) < 1_000_000, "\(known) ns")
    }
    let end = MonotonicInstant(nanoseconds: 10_000_000_000)
    #expect(here.takeStatistics(at: end).roundTripNanoseconds > 0)
  }

  // MARK: 11, a thread that stood still

  @Test func secondOfPacketsAtOnceLeavesNoSecondOfDepth() throws {
    var packets = try PacketScene.voice(seconds: 6)
    for index in packets.indices where (200..<300).contains(index) { packets[index].at = 3_002.5 }
    var scene = try PacketScene()
    scene.play(packets, until: 5_900)
    #expect(scene.count().delay < 40)
    #expect(scene.loudness(from: 3_500, to: 5_800) > 0.8)
  }

  // MARK: 12, hold

  @Test func resumedCallBeginsWithWhatIsSaidNow() throws {
    // A call that is held has no stream; the one after it hears a sender in the middle of its
    // count.
    let packets = try PacketScene.voice(seconds: 30).filter { $0.at > 20_000 }
      .map { SentPacket(at: $0.at - 20_000, bytes: $0.bytes) }
    var scene = try PacketScene()
    scene.play(packets, until: 9_900)
    #expect(scene.count().concealed < 60 && scene.count().delay < 30)
    #expect(scene.loudness(from: 500, to: 9_800) > 0.8)
  }
}
