import Foundation
import MediaCore
import Testing

@testable import Simulation

/// Captures of streams with the oddities of real phones and networks.
struct CaptureOddityTests {
  private static let one = Endpoint(address: [192, 0, 2, 10], port: 40_000)
  private static let other = Endpoint(address: [192, 0, 2, 20], port: 30_000)

  private struct Packet {
    var sequence: Int
    var timestamp: Int
    /// Arrival in milliseconds.
    var arrival: Double
    var payloadType = 0
    var length = 160
  }

  /// Returns `count` packets of 20 ms of PCMU, with a millisecond of jitter.
  private func voice(_ count: Int, ticks: Int = 160) -> [Packet] {
    (0..<count).map { index -> Packet in
      let jitter = Double(index % 3) / 2
      let arrival = Double(20 * index) + jitter
      return Packet(sequence: 100 + index, timestamp: 5_000 + ticks * index, arrival: arrival)
    }
  }

  private func add(
    _ packets: [Packet],
    to capture: inout PacketCapture,
    ssrc: UInt8 = 1,
    portOffset: UInt16 = 0,
    inside wrap: ([UInt8]) -> [UInt8] = { $0 }
  ) {
    for packet in packets {
      var bytes: [UInt8] = [0x80, UInt8(packet.payloadType)]
      bytes += [UInt8(packet.sequence >> 8 & 255), UInt8(packet.sequence & 255)]
      bytes += [24, 16, 8, 0].map { UInt8(packet.timestamp >> $0 & 255) } + [0, 0, 0, ssrc]
      bytes += [UInt8](repeating: 0x55, count: packet.length)
      bytes = wrap(bytes)
      let datagram = CapturedDatagram(
        source: Endpoint(address: Self.one.address, port: Self.one.port + portOffset),
        destination: Endpoint(address: Self.other.address, port: Self.other.port + portOffset),
        payload: bytes[...],
        length: bytes.count
      )
      capture.add(datagram, at: 1_000_000_000 + Int64(packet.arrival * 1_000_000))
    }
  }

  private func stream(_ packets: [Packet]) throws -> CapturedStream {
    var capture = PacketCapture()
    add(packets, to: &capture)
    return try PacketCapture.choose(among: capture.streams(), named: nil)
  }

  /// Many phones send the three end packets of a DTMF digit at once (RFC 4733).
  @Test func endsOfAKeyTellNoDelay() throws {
    var packets = voice(500)
    for index in 200..<205 {
      packets[index].payloadType = 101
      packets[index].length = 4
      packets[index].timestamp = packets[200].timestamp
      packets[index].arrival = packets[min(index, 202)].arrival
    }
    let stream = try stream(packets)
    #expect(stream.keys == 5 && stream.lost == 0 && stream.delay(1) < 3)
    let delays = try stream.trace().packets.compactMap(\.delay)
    #expect(delays.allSatisfy { (-1_000_000...3_000_000).contains($0) })
  }

  @Test(arguments: [
    (700, -600, 0), (700, -600, 1_000_000), (700, -600, -96_000), (300, 2_000, 77_777),
  ])
  func numbersThatStartAnewLoseNothing(at place: Int, step: Int, ticks: Int) throws {
    var packets = voice(1_000)
    for index in place..<1_000 {
      packets[index].sequence += step
      packets[index].timestamp += ticks
    }
    let stream = try stream(packets)
    #expect(stream.received == 1_000 && stream.lost == 0 && stream.duplicates == 0)
    #expect(stream.restarts == 1 && stream.delay(1) < 3)
  }

  /// An outage: numbers, timestamps and time all went on.
  @Test func packetsOfAnOutageAreLost() throws {
    var packets = voice(1_000)
    packets.removeSubrange(400..<700)
    let stream = try stream(packets)
    #expect(stream.lost == 300 && stream.restarts == 0)
  }

  /// A pause of discontinuous transmission right before an outage, and pictures of many packets.
  @Test func lossesAreNoRestartsWhateverCameBefore() throws {
    var speech = voice(1_000)
    for index in 500..<1_000 {
      speech[index].timestamp += 160 * 19
      speech[index].arrival += 380
    }
    speech.removeSubrange(501..<651)
    #expect(try stream(speech).lost == 150)
    var capture = PacketCapture()
    let video = (0..<3_000).map { index in
      let picture = index / 30
      let arrival = Double(picture) * 100 / 3 + Double(index % 30) / 5
      return Packet(sequence: index, timestamp: 3_000 * picture, arrival: arrival, payloadType: 96)
    }
    add(Array(video[..<1_500] + video[1_900...]), to: &capture)
    #expect(capture.streams().first?.lost == 400)
  }

  @Test func severalRestartsAreAlignedEach() throws {
    var packets = voice(900)
    for index in 300..<900 { packets[index].timestamp += 294_919_374 * (index / 300) }
    let stream = try stream(packets)
    #expect(stream.beginnings == 3 && stream.delay(1) < 3)
  }

  @Test(arguments: [100, 300, -300])
  func timestampsThatJumpBetweenSmoothPacketsAreNoDelay(milliseconds: Int) throws {
    var packets = voice(1_000)
    for index in 500..<1_000 { packets[index].timestamp += 8 * milliseconds }
    let stream = try stream(packets)
    #expect(stream.delay(1) < 3 && stream.beginnings == 2)
  }

  /// A bridge and the interfaces behind it show a packet to the capture again and again.
  @Test func packetsThatSeveralInterfacesSawAreOne() throws {
    let packets = voice(300).flatMap { [$0, $0, $0, $0] }
    let stream = try stream(packets)
    #expect(stream.received == 300 && stream.duplicates == 900 && stream.lost == 0)
  }

  @Test func filesThatWereJoinedTheOtherWayRoundAreReadByTime() throws {
    let packets = voice(600)
    let stream = try stream(Array(packets[300...] + packets[..<300]))
    #expect(stream.reordered == 0 && stream.lost == 0 && stream.delay(1) < 3)
  }

  /// 30 pictures a second of 30 packets each, and shared screens now and then.
  @Test(arguments: [(30, 30.0), (60, 30.0), (40, 5.0), (120, 1.0)])
  func picturesOfManyPacketsAreVideo(packets: Int, pictures: Double) throws {
    var capture = PacketCapture()
    let count = Int(20 * pictures)
    var video: [Packet] = []
    for picture in 0..<count {
      let begin = Double(picture) * 1_000 / pictures
      for index in 0..<packets {
        let arrival: Double = begin + Double(index) / 5
        let timestamp: Int = 7_000 + Int(begin * 90)
        let sequence: Int = picture * packets + index
        video.append(
          Packet(sequence: sequence, timestamp: timestamp, arrival: arrival, payloadType: 96)
        )
      }
    }
    add(video, to: &capture, ssrc: 2, portOffset: 2)
    var opus = voice(1_000, ticks: 960)
    for index in opus.indices { opus[index].payloadType = 111 }
    add(opus, to: &capture)
    let chosen = try PacketCapture.choose(among: capture.streams(), named: nil)
    #expect(chosen.ssrc == 1 && chosen.format.clockRate == 48_000 && chosen.delay(1) < 3)
    // The user speaks of the voice.
    let told = capture.streams(clockRate: 48_000)
    #expect(told.first { $0.ssrc == 2 }?.format.isVideo == true)
  }

  @Test func comfortNoiseCountsAsItsCodecDoes() throws {
    var packets = voice(500, ticks: 320)
    for index in packets.indices { packets[index].payloadType = index % 20 == 7 ? 13 : 97 }
    let stream = try stream(packets)
    #expect(stream.format.clockRate == 16_000 && stream.delay(1) < 3)
    // The clock that the user names is that of both.
    var capture = PacketCapture()
    add(packets, to: &capture)
    let named = try #require(capture.streams(clockRate: 16_001).first)
    #expect(named.formats.allSatisfy { $0.format.clockRate == 16_001 })
  }

  @Test func descriptionsByTCPAreRead() throws {
    var capture = PacketCapture()
    var packets = voice(100, ticks: 320)
    for index in packets.indices { packets[index].payloadType = 97 }
    add(packets, to: &capture)
    let text =
      "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/TCP x\r\nContent-Type: application/sdp\r\n\r\n"
      + "v=0\r\nc=IN IP4 192.0.2.20\r\nm=audio 30000 RTP/AVP 97\r\na=rtpmap:97 AMR-WB/16000\r\n"
    // An IP packet with a header of TCP, 20 bytes each.
    let ip: [UInt8] = [0x45, 0, 2, 0, 0, 0, 0, 0, 64, 6, 0, 0] + Self.one.address
    let tcp = [UInt8](repeating: 0, count: 12) + [0x50] + [UInt8](repeating: 0, count: 7)
    capture.add(frame: ip + Self.other.address + tcp + Array(text.utf8), linkType: 101, at: 1)
    #expect(capture.streams().first?.format.name == "AMR-WB")
    // A header that is cut off, or longer than the packet.
    for length in 0..<40 {
      let cut = (ip + Self.other.address + tcp).prefix(length)
      capture.add(frame: Array(cut), linkType: 101, at: 1)
    }
  }

  @Test func aCaptureWithoutTimesIsAnError() {
    let packets = voice(100).map { packet in
      var packet = packet
      packet.arrival = 0
      return packet
    }
    do {
      _ = try stream(packets)
      Issue.record("a stream without times was taken")
    } catch {
      if case PacketCapture.ChoiceError.untimed = error { return }
      Issue.record("\(error)")
    }
  }

  @Test func filesOfRtpdumpAreRead() throws {
    func number(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(value >> (8 * (count - 1 - $0)) & 255) }
    }
    var file = Array("#!rtpplay1.0 192.0.2.20/30000\n".utf8)
    file += number(1_000, 4) + number(500_000, 4) + [192, 0, 2, 10] + number(40_000, 2) + [0, 0]
    for index in 0..<100 {
      let packet: [UInt8] =
        [0x80, 0] + number(index, 2) + number(160 * index, 4) + number(7, 4)
        + [UInt8](repeating: 1, count: 160)
      file += number(packet.count + 8, 2) + number(packet.count, 2) + number(20 * index, 4) + packet
    }
    let streams = try #require(CaptureFile.dump(file)).streams()
    let stream = try #require(streams.first)
    #expect(stream.received == 100 && stream.delay(1) == 0 && stream.duration == 1.98)
    #expect("\(stream.source) \(stream.destination)" == "192.0.2.10:40000 192.0.2.20:30000")
    // One that is cut off is read up to there, and none of it makes the program stumble.
    let cut = try #require(CaptureFile.dump(Array(file.dropLast(100))))
    #expect(cut.streams().first?.received == 99 && cut.obstacles.count == 1)
    for length in stride(from: 0, to: 80, by: 1) {
      #expect(CaptureFile.dump(Array(file.prefix(length)))?.streams().isEmpty ?? true)
    }
    #expect(CaptureFile.dump(Array("#!rtpplay1.0 x/y\n".utf8) + file)?.streams().isEmpty == true)
  }

  // MARK: Pauses, copies and clocks

  /// One packet that is lost or late before a pause says nothing of the pause.
  @Test(arguments: [nil, 100.0]) func packetBeforeAPauseIsOne(lateness: Double?) throws {
    var packets = voice(1_000)
    for index in 500..<1_000 {
      packets[index].timestamp += 40 * 8_000
      packets[index].arrival += 40_000
    }
    if let lateness { packets[499].arrival += lateness } else { packets.remove(at: 499) }
    let stream = try stream(packets)
    #expect(stream.lost == (lateness == nil ? 1 : 0))
    var trace = try stream.trace()
    let begin = MonotonicInstant(nanoseconds: 0)
    let fates = (0..<3_000).map { index in
      let sent = begin.advanced(byNanoseconds: Int64(index) * 20_000_000)
      return trace.fate(sentAt: sent, byteCount: 100).arrival.map { $0.nanoseconds(since: sent) }
    }
    #expect(fates.count { $0 == nil } <= 2)
    #expect(fates.count { $0 ?? 0 > 10_000_000 } <= 2)
  }

  @Test func copiesAreNotOutOfOrder() throws {
    let packets = voice(300)
    let copies = packets.map { packet in
      var copy = packet
      copy.arrival += 60
      return copy
    }
    let stream = try stream((packets + copies).sorted { $0.arrival < $1.arrival })
    #expect(stream.received == 300 && stream.duplicates == 300 && stream.reordered == 0)
  }

  /// One packet far behind all others is late, or a copy; the numbering goes on.
  @Test(arguments: [2_100.0, 3_000, 12_000], [false, true])
  func stragglerIsNoRestart(lateness: Double, isCopy: Bool) throws {
    var packets = voice(1_500)
    var late = packets[300]
    if !isCopy { packets.remove(at: 300) }
    late.arrival += lateness
    packets.append(late)
    let stream = try stream(packets.sorted { $0.arrival < $1.arrival })
    #expect(stream.lost == 0 && stream.restarts == 0 && stream.received == 1_500)
    #expect(stream.duplicates == (isCopy ? 1 : 0) && stream.reordered == (isCopy ? 0 : 1))
  }

  /// Once the numbering has restarted, a late packet of the old one is all that may be lost.
  @Test(arguments: [10_000, -10_000]) func latePacketAcrossARestartLosesNothing(shift: Int) throws {
    var packets = voice(1_000)
    for index in 500..<1_000 {
      packets[index].sequence += 20_000 + shift
      packets[index].timestamp += 9_000_000
    }
    packets[499].arrival = packets[500].arrival + 1
    let stream = try stream(packets.sorted { $0.arrival < $1.arrival })
    #expect(stream.lost <= 1 && stream.received >= 999 && stream.jitter.most < 100)
  }

  /// One packet comes before all that a stall held back.
  @Test func packetThatOvertakesAStallLosesNothing() throws {
    var packets = voice(1_500)
    let end = packets[800].arrival
    for index in 500..<799 { packets[index].arrival = end - 10 + Double(index) / 100 }
    packets[799].arrival = end - 11
    let stream = try stream(packets.sorted { $0.arrival < $1.arrival })
    #expect(stream.lost == 0 && stream.restarts == 0 && stream.received == 1_500)
  }

  /// A number that comes again with another timestamp is another packet, as after ringing.
  @Test func numberingThatBeginsAFewLowerBeginsAnew() throws {
    let ringing = voice(80)
    let speech = voice(1_420).map { packet in
      var packet = packet
      packet.timestamp += 500_000
      packet.arrival += 1_600
      return packet
    }
    let stream = try stream(ringing + speech)
    #expect(stream.received == 1_500 && stream.duplicates == 0 && stream.lost == 0)
    #expect(stream.restarts == 1)
  }

  /// The clock of the capturing machine was set back.
  @Test(arguments: [100.0, 300, 1_000, 3_600_000])
  func clockThatIsSetBackIsNeitherDelayNorDisorder(milliseconds: Double) throws {
    var packets = voice(1_500)
    for index in packets.indices {
      packets[index].arrival += 4_000_000 - (index >= 700 ? milliseconds : 0)
    }
    let stream = try stream(packets)
    #expect(stream.reordered == 0 && stream.lost == 0 && stream.restarts == 0)
    #expect(stream.delay(1) < 25 && stream.duration < 31 && stream.longestGap < 100)
  }

  /// Jitter is RFC 3550's, and a stall is part of it.
  @Test func stallOfMoreThanASecondIsJitter() throws {
    var packets = voice(1_500)
    for index in 500..<600 {
      packets[index].arrival = max(packets[index].arrival, packets[600].arrival)
    }
    let stream = try stream(packets)
    #expect(stream.jitter.most > 100 && stream.lost == 0)
  }

  /// Some senders leave the timestamp as it is, or count down.
  @Test(arguments: [0, -160]) func timestampsThatDoNotAdvanceTellNoDelay(ticks: Int) throws {
    var packets = voice(2_000)
    for index in packets.indices { packets[index].timestamp = 1_000_000 + ticks * index }
    let stream = try stream(packets)
    #expect(!stream.hasDelays && stream.lost == 0 && stream.received == 2_000)
    #expect(stream.skew == nil)
    #expect(stream.summary.contains("delay not known"))
  }

  @Test func copiesAreNoJitter() throws {
    let packets = voice(500)
    let copies = packets.map { packet in
      var copy = packet
      copy.arrival += 3
      return copy
    }
    let stream = try stream((packets + copies).sorted { $0.arrival < $1.arrival })
    let most = try self.stream(packets).jitter.most
    #expect(abs(stream.jitter.most - most) < 0.01 && stream.duplicates == 500)
  }

  /// Repair packets of the same source may have numbers of their own (RFC 5109).
  @Test func repairPacketsHaveNumbersOfTheirOwn() throws {
    var packets = voice(1_500)
    packets.remove(at: 700)
    var all: [Packet] = []
    for (index, packet) in packets.enumerated() {
      all.append(packet)
      guard index % 5 == 4 else { continue }
      var repair = packet
      repair.payloadType = 127
      repair.sequence = 30_000 + index / 5
      all.append(repair)
    }
    let stream = try stream(all)
    #expect(stream.lost == 1 && stream.restarts == 0)
  }

  /// Some senders count G.722 at 16 kHz, others at 1 or 2 kHz, not at 8 kHz (RFC 3551 section
  /// 4.5.2).
  @Test(arguments: [320, 40, 20]) func ticksOfAnotherClockMakeNoDelay(ticks: Int) throws {
    var packets = voice(2_000, ticks: ticks)
    for index in packets.indices { packets[index].payloadType = 9 }
    let stream = try stream(packets)
    #expect(stream.delay(1) < 5 && stream.lost == 0)
    // Clocks that no codec has are no drift either.
    let isUsual = stream.format.clockRate == 50 * ticks
    #expect(isUsual == (ticks != 40) && (stream.skew == nil) == !isUsual)
    #expect(stream.jitter.most < 5)
  }

  /// Answers of name servers look like RTP, each from a source of its own.
  @Test func strangersTakeNoCallsPlace() throws {
    var capture = PacketCapture()
    for index in 0..<21_000 {
      let id = UInt8(index & 255)
      let datagram = CapturedDatagram(
        source: Endpoint(address: Self.one.address, port: 53),
        destination: Endpoint(address: Self.other.address, port: UInt16(1_024 + index)),
        payload: [0x80, 0, id, 1, 0, 0, 0, 1, 0, 0, 0, id] + [UInt8](repeating: 7, count: 40),
        length: 52
      )
      capture.add(datagram, at: 1_000_000 * Int64(index))
    }
    var packets = voice(300)
    for index in packets.indices { packets[index].arrival += 30_000 }
    add(packets, to: &capture)
    #expect(capture.streams().map(\.received) == [300])
  }

  /// Many packets in tunnels or fragments are a reason to use another reader (`holdsMore`).
  @Test func tunnelsAndFragmentsAreNoted() {
    var capture = PacketCapture()
    add(voice(100), to: &capture)
    #expect(!capture.holdsMore && capture.obstacles.isEmpty)
    // IP with UDP to the port of GTP-U, and a fragment.
    let head: [UInt8] = [0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0] + Self.one.address
    let udp: [UInt8] = [8, 0x68, 8, 0x68, 0, 40, 0, 0] + [UInt8](repeating: 0x30, count: 32)
    for time in 0..<10 {
      let frame = head + Self.other.address + udp
      capture.add(frame: frame, linkType: 101, at: Int64(time))
    }
    var fragment = head + Self.other.address + udp
    fragment[6] = 0x20
    capture.add(frame: fragment, linkType: 101, at: 1)
    #expect(capture.holdsMore)
    #expect(capture.obstacles.joined().contains("10 packets in tunnels"))
    #expect(capture.obstacles.joined().contains("1 fragments"))
  }

  /// A file of tcpdump's, of raw IP, that ends in nonsense.
  @Test func damagedFileIsReadUpToTheDamage() throws {
    func number(_ value: Int, _ bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(value >> (8 * $0) & 255) }
    }
    var file: [UInt8] = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0] + number(0, 8) + number(65_535, 4)
    file += number(101, 4)
    let udp: [UInt8] = [0x9C, 0x40, 0x75, 0x30, 0, 180, 0, 0]
    let ip: [UInt8] = [0x45, 0, 0, 200, 0, 0, 0, 0, 64, 17, 0, 0] + Self.one.address
    for index in 0..<60 {
      let rtp: [UInt8] = [0x80, 0, 0, UInt8(index)] + number(0, 2) + [UInt8(index * 160 >> 8)]
      let rest = [UInt8(index * 160 & 255), 0, 0, 0, 1] + [UInt8](repeating: 0x55, count: 160)
      let frame = ip + Self.other.address + udp + rtp + rest
      file += number(1 + index / 50, 4) + number(index % 50 * 20_000, 4)
      file += number(frame.count, 4) + number(frame.count, 4) + frame
    }
    file += number(2, 4) + number(0, 4) + number(0x7FFF_FFF0, 4) + number(0x7FFF_FFF0, 4)
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("damaged-\(UUID().uuidString).pcap")
    try Data(file).write(to: path)
    defer { try? FileManager.default.removeItem(at: path) }  // Nobody looks there again.
    #expect(throws: CaptureFile.ReadError.self) { try CaptureFile.read(path.path) }
    let capture = try CaptureFile.read(path.path, readsDamaged: true)
    #expect(capture.streams().map(\.received) == [60])
    #expect(capture.obstacles.joined().contains("damaged"))
  }

  /// RFC 8656 sections 11 and 12.4, with and without padding.
  @Test(arguments: ["channel", "padded", "indication"])
  func voiceByATURNServerIsFound(form: String) throws {
    var capture = PacketCapture()
    add(voice(300), to: &capture) { packet in
      let length = [UInt8(packet.count >> 8), UInt8(packet.count & 255)]
      switch form {
      case "channel": return [0x40, 0x01] + length + packet
      case "padded": return [0x4F, 0xFF] + length + packet + [0, 0, 0]
      default:
        let peer: [UInt8] = [0, 0x12, 0, 8, 0, 1, 1, 2, 3, 4, 5, 6]
        let attributes = peer + [0, 0x13] + length + packet
        let head: [UInt8] = [0, 0x17, UInt8(attributes.count >> 8), UInt8(attributes.count & 255)]
        return head + [0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 7, count: 12) + attributes
      }
    }
    let stream = try PacketCapture.choose(among: capture.streams(), named: nil)
    #expect(stream.received == 300 && stream.lossShare == 0)
    // Of another length than its own, it is something else.
    var other = PacketCapture()
    add(voice(300), to: &other) { [0x40, 0x01, 0, 9] + $0 }
    #expect(other.streams().isEmpty)
  }
}
