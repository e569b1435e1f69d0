import MediaCore
import RealTime
import Simulation
import Testing

@testable import SRTP

/// The two ends of one direction, with random keys of a seed.
private final class Ends {
  var sender: SRTPSender
  var receiver: SRTPReceiver
  private var datagram = ByteBuffer(repeating: 0, count: 1_600)

  init(_ profile: SRTPProfile, seed: UInt64 = 1) throws {
    let keys = try randomKeys(profile, seed: seed)
    let sender = try SRTPSender(profile, keys.local)
    let receiver = try SRTPReceiver(profile, keys.local)
    self.sender = sender
    self.receiver = receiver
  }

  func protect(_ packet: [UInt8]) -> [UInt8]? {
    fill(&datagram, with: packet)
    guard let length = sender.protect(&datagram, length: packet.count) else { return nil }
    return contents(of: datagram, length)
  }

  func unprotect(_ packet: [UInt8]) -> [UInt8]? {
    fill(&datagram, with: packet)
    guard let length = receiver.unprotect(&datagram, length: packet.count) else { return nil }
    return contents(of: datagram, length)
  }
}

func randomKeys(_ profile: SRTPProfile, seed: UInt64) throws -> SRTPKeys {
  var random = SeededGenerator(seed: seed)
  return try SRTPKeys(profile) { UInt8.random(in: 0...255, using: &random) }
}

struct SRTPTests {
  @Test(arguments: SRTPProfile.allCases)
  func whatIsSentIsReceived(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    for number in 0..<200 {
      let packet = rtp(UInt16(number), Array(repeating: UInt8(number), count: number))
      let protected = try #require(ends.protect(packet))
      #expect(protected.count > packet.count)
      #expect(number < 8 || protected[12...] != packet[12...])
      #expect(ends.unprotect(protected) == packet)
      let report: [UInt8] = [0x80, 201, 0, 1] + bigEndian(7)
      let protectedReport = try #require(ends.protect(report))
      #expect(ends.unprotect(protectedReport) == report)
    }
    #expect(ends.receiver.dropped == 0)
  }

  /// Packets name the key that protects them (MKI): before the tag (RFC 3711 section 3.1), with GCM
  /// at the end (RFC 7714 section 8.2).
  ///
  /// Some phones announce that and leave it out.
  @Test(arguments: SRTPProfile.allCases)
  func identifiersOfKeysAreTakenOff(profile: SRTPProfile) throws {
    let keys = try randomKeys(profile, seed: 3)
    let identifier: [UInt8] = [0, 0, 0, 1]
    let named = try #require(
      SRTPMasterKey(
        key: keys.local.key,
        salt: keys.local.salt,
        identifier: identifier,
        for: profile
      )
    )
    let ends = try Ends(profile, seed: 3)
    ends.receiver = try SRTPReceiver(profile, named)
    let report: [UInt8] = [0x80, 201, 0, 1] + bigEndian(7)
    for number in 0..<100 {
      let packet =
        number % 10 == 9 ? report : rtp(UInt16(number), Array(repeating: 1, count: number))
      let kind: SRTPSessionKeys.Kind = packet == report ? .control : .media
      var protected = try #require(ends.protect(packet))
      let trailer = profile == .aeadAES128GCM ? 0 : profile.tagLength(of: kind)
      if number % 3 > 0 {
        protected.insert(contentsOf: identifier, at: protected.count - trailer)
      }
      #expect(ends.unprotect(protected) == packet)
    }
    #expect(ends.receiver.dropped == 0)
  }

  /// The short tag is for RTP alone (RFC 4568 section 6.2.2).
  @Test func reportsKeepTheLongTag() throws {
    let ends = try Ends(.aes128CMSHA1Tag32)
    #expect(ends.protect(rtp(1, [1, 2]))?.count == 12 + 2 + 4)
    #expect(ends.protect([0x80, 201, 0, 1] + bigEndian(7))?.count == 8 + 4 + 10)
  }

  /// A header with sources of a conference and an extension stays readable, and is authenticated.
  @Test(arguments: SRTPProfile.allCases)
  func longHeadersAreKept(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    var packet = rtp(1, [])
    packet[0] = 0x92
    packet += bigEndian(1) + bigEndian(2) + [0xbe, 0xde, 0, 1] + bigEndian(3) + [9, 8, 7]
    let protected = try #require(ends.protect(packet))
    #expect(Array(protected[..<28]) == Array(packet[..<28]))
    var damaged = protected
    damaged[20] ^= 1
    #expect(ends.unprotect(damaged) == nil)
    #expect(ends.unprotect(protected) == packet)
  }

  /// Each bit of a packet and of its tag counts.
  @Test(arguments: SRTPProfile.allCases)
  func noFlippedBitPasses(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    for packet in [rtp(5, Array(0..<20)), [0x80, 201, 0, 1] + bigEndian(7)] {
      let protected = try #require(ends.protect(packet))
      for bit in 0..<protected.count * 8 {
        var damaged = protected
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(ends.unprotect(damaged) == nil, "bit \(bit)")
      }
      for length in 0..<protected.count {
        #expect(ends.unprotect(Array(protected[..<length])) == nil)
      }
      // None of them changed what is known of the far side.
      #expect(ends.unprotect(protected) == packet)
    }
  }

  @Test(arguments: SRTPProfile.allCases)
  func aReplayedPacketIsDropped(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    var sent: [[UInt8]] = []
    for number in 0..<UInt16(300) { sent.append(try #require(ends.protect(rtp(number, [1, 2])))) }
    let report = try #require(ends.protect([0x80, 201, 0, 1] + bigEndian(7)))
    for packet in sent + [report] { #expect(ends.unprotect(packet) != nil) }
    for packet in sent + [report] { #expect(ends.unprotect(packet) == nil) }
    #expect(ends.receiver.dropped == 301)
  }

  /// A packet that is late by less than 1,024 numbers passes once, and a later one not at all.
  @Test(arguments: SRTPProfile.allCases)
  func lastThousandPacketsAreRemembered(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    let sent = try (0...1_024).map { try #require(ends.protect(rtp(UInt16($0), [1]))) }
    for packet in sent[2...] { #expect(ends.unprotect(packet) != nil) }
    #expect(ends.unprotect(sent[0]) == nil)
    #expect(ends.unprotect(sent[1]) != nil)
    for packet in sent { #expect(ends.unprotect(packet) == nil) }
  }

  /// Reordered packets within the replay window pass once each, and none twice.
  @Test(arguments: 1...20)
  func reorderedPacketsPassOnce(seed: UInt64) throws {
    let ends = try Ends(.aeadAES128GCM, seed: seed)
    var random = SeededGenerator(seed: seed)
    let first = UInt16.random(in: 0..<0x8000, using: &random)
    var sent: [(order: Int, packet: [UInt8])] = []
    for number in 0..<2_000 {
      let packet = try #require(ends.protect(rtp(first &+ UInt16(number), [3])))
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        sent.append((number + Int.random(in: 0...300, using: &random), packet))
      }
    }
    sent.sort { $0.order < $1.order }
    var passed: Set<[UInt8]> = []
    for (_, packet) in sent {
      let isNew = passed.insert(packet).inserted
      #expect((ends.unprotect(packet) != nil) == isNew)
    }
  }

  /// The roll-over counter is not in the packets: both sides count, across losses and reordering.
  @Test(arguments: SRTPProfile.allCases)
  func sequenceNumbersRollOver(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    var late: [UInt8]?
    for number in 0..<200_000 {
      let sequenceNumber = UInt16(truncatingIfNeeded: number)
      let packet = rtp(sequenceNumber, [5])
      let protected = try #require(ends.protect(packet))
      // Each packet around the end of a cycle, and a few beside.
      guard number % 997 == 0 || sequenceNumber < 3 || sequenceNumber > 65_532 else { continue }
      if sequenceNumber == 65_535 {
        late = protected
        continue
      }
      #expect(ends.unprotect(protected) == packet, "\(number)")
      if sequenceNumber == 2, let last = late {
        #expect(ends.unprotect(last) != nil, "\(number)")
        late = nil
      }
    }
  }

  /// A forged packet far away does not move the counter, which would end the call's sound.
  @Test(arguments: SRTPProfile.allCases)
  func forgedNumbersMoveNothing(profile: SRTPProfile) throws {
    let ends = try Ends(profile)
    #expect(ends.unprotect(rtp(0x7000, Array(repeating: 0, count: 30))) == nil)
    for number in 100..<UInt16(200) {
      let packet = rtp(number, [1, 2, 3])
      let protected = try #require(ends.protect(packet))
      for forged in [number &+ 0x7fff, number &- 0x7fff, number &+ 1, 0, 65_535] {
        var damaged = protected
        damaged[2] = UInt8(forged >> 8)
        damaged[3] = UInt8(truncatingIfNeeded: forged)
        #expect(ends.unprotect(damaged) == nil)
      }
      #expect(ends.unprotect(protected) == packet)
    }
  }

  /// Forged sources take no place of a real one.
  @Test func manySourcesAreRemembered() throws {
    let ends = try Ends(.aeadAES128GCM)
    let first = try #require(ends.protect(rtp(1, ssrc: 1, [1])))
    #expect(ends.unprotect(first) != nil)
    for ssrc in 100..<UInt32(400) {
      var forged = first
      forged.replaceSubrange(8..<12, with: bigEndian(ssrc))
      #expect(ends.unprotect(forged) == nil)
    }
    #expect(ends.unprotect(first) == nil)
    for ssrc in 2..<UInt32(7) {
      let packet = try #require(ends.protect(rtp(9, ssrc: ssrc, [1])))
      #expect(ends.unprotect(packet) != nil)
    }
    #expect(ends.unprotect(first) == nil)
  }

  /// No number is used twice, which would reveal the key of GCM's tag.
  @Test func noNumberIsSentTwice() throws {
    let ends = try Ends(.aeadAES128GCM)
    #expect(ends.protect(rtp(10, [1])) != nil)
    #expect(ends.protect(rtp(10, [2])) == nil)
    #expect(ends.protect(rtp(9, [2])) == nil)
    #expect(ends.protect(rtp(11, [2])) != nil)
    #expect(ends.protect([0x80, 96, 0, 12]) == nil)
  }

  /// RFC 3711 section 3.2.1: the reports of a call have 31 bits of numbers, and then it is over.
  @Test func reportsEndWithTheirNumbers() throws {
    let ends = try Ends(.aeadAES128GCM)
    let report: [UInt8] = [0x80, 201, 0, 1] + bigEndian(7)
    ends.sender.nextControl = 0x7fff_ffff
    #expect(ends.protect(report) != nil)
    #expect(ends.protect(report) == nil)
  }

  /// Neither side understands the other with keys of another call.
  @Test(arguments: SRTPProfile.allCases)
  func otherKeysOpenNothing(profile: SRTPProfile) throws {
    let ends = try Ends(profile, seed: 1)
    let others = try Ends(profile, seed: 2)
    let packet = try #require(ends.protect(rtp(1, [1, 2, 3])))
    #expect(others.unprotect(packet) == nil)
  }

  /// After each hold the far side goes on as another source.
  ///
  /// None is forgotten: its packets would be new again. There is an end to them.
  @Test func noSourceIsForgotten() throws {
    let ends = try Ends(.aeadAES128GCM)
    var firsts: [[UInt8]] = []
    for ssrc in 1...UInt32(SRTPReceiver.capacity) {
      let packet = try #require(ends.protect(rtp(1, ssrc: ssrc, [1])))
      #expect(ends.unprotect(packet) != nil)
      firsts.append(packet)
    }
    #expect(firsts.allSatisfy { ends.unprotect($0) == nil })
    let beyond = try #require(ends.protect(rtp(1, ssrc: 9_999, [1])))
    #expect(ends.unprotect(beyond) == nil)
  }

  /// The numbers of reports begin anew with each source (RFC 3711 section 3.2.1).
  @Test func eachSourceCountsItsReports() throws {
    let ends = try Ends(.aes128CMSHA1Tag80)
    let reports = try (0..<50).map { _ in
      try #require(ends.protect([0x80, 201, 0, 1] + bigEndian(7)))
    }
    for report in reports { #expect(ends.unprotect(report) != nil) }
    let other = try Ends(.aes128CMSHA1Tag80)
    let first = try #require(other.protect([0x80, 201, 0, 1] + bigEndian(8)))
    #expect(ends.unprotect(first) != nil && ends.unprotect(first) == nil)
  }
}
