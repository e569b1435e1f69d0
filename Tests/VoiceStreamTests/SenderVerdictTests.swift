import MediaCore
import RTP
import Testing

@testable import VoiceStream

/// Acceptance of media by the host that it comes from.
struct SenderVerdictTests {
  private static let length = RTPHeader.minimumLength + 4

  private static func datagram(payloadType: UInt8 = 96, sequence: UInt16 = 1) -> ByteBuffer {
    var datagram = ByteBuffer(repeating: 0xF8, count: length)
    RTPHeader(
      marker: false,
      payloadType: payloadType,
      sequenceNumber: sequence,
      timestamp: RTPTimestamp(rawValue: UInt32(sequence) * 480),
      ssrc: 7
    ).write(to: &datagram)
    return datagram
  }

  private static func stream() throws -> VoiceStream {
    try VoiceStream(StreamConfiguration.opus(ssrc: 1, seed: 2))
  }

  private static func judge(
    _ stream: inout VoiceStream,
    _ datagram: borrowing ByteBuffer,
    from origin: DatagramOrigin,
    atMilliseconds milliseconds: Int64 = 0
  ) -> SenderVerdict {
    let now = MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    let verdict = stream.judge(datagram, length: length, from: origin, at: now)
    guard verdict != .refuse else { return verdict }
    stream.receive(
      datagram,
      length: length,
      at: ArrivalTime(instant: now, playback: now, wait: 0)
    )
    return verdict
  }

  @Test func theAgreedHostIsAlwaysTheFarSide() throws {
    var stream = try Self.stream()
    let voice = Self.datagram()
    let noise = Self.datagram(payloadType: 13)
    #expect(Self.judge(&stream, voice, from: .agreed) == .accept)
    #expect(Self.judge(&stream, noise, from: .agreed) == .accept)
  }

  // A far side behind several addresses; what speaks another codec is none.
  @Test func theFirstHostWithTheAgreedCodecIsAdmitted() throws {
    var stream = try Self.stream()
    let noise = Self.datagram(payloadType: 13)
    #expect(Self.judge(&stream, noise, from: .foreign) == .refuse)
    let voice = Self.datagram()
    #expect(Self.judge(&stream, voice, from: .foreign) == .acceptAndAdmit)
    #expect(Self.judge(&stream, voice, from: .admitted) == .accept)
    // A third host comes too late.
    #expect(Self.judge(&stream, voice, from: .foreign) == .refuse)
  }

  @Test func anotherHostDoesNotTakeTheStreamOver() throws {
    var stream = try Self.stream()
    let voice = Self.datagram()
    _ = Self.judge(&stream, voice, from: .agreed)
    for sequence: UInt16 in 2..<100 {
      let forged = Self.datagram(sequence: sequence)
      #expect(Self.judge(&stream, forged, from: .foreign) == .refuse)
    }
  }

  // Early media from one port of a gateway, the call itself from another.
  @Test func anotherPortOfTheHostIsHeardOnceTheStreamIsSilent() throws {
    var stream = try Self.stream()
    let voice = Self.datagram()
    #expect(Self.judge(&stream, voice, from: .agreed) == .accept)
    #expect(Self.judge(&stream, voice, from: .neighbour, atMilliseconds: 99) == .refuse)
    let noise = Self.datagram(payloadType: 13)
    #expect(Self.judge(&stream, noise, from: .neighbour, atMilliseconds: 101) == .refuse)
    #expect(Self.judge(&stream, voice, from: .foreign, atMilliseconds: 500) == .refuse)
    let next = Self.datagram(sequence: 2)
    #expect(Self.judge(&stream, next, from: .neighbour, atMilliseconds: 101) == .acceptAndAdmit)
    // The port that was agreed on takes the stream back.
    let last = Self.datagram(sequence: 3)
    #expect(Self.judge(&stream, last, from: .agreed, atMilliseconds: 120) == .acceptAgreedAlone)
  }

  @Test func theAdmittedHostGivesWayToTheAgreedOne() throws {
    var stream = try Self.stream()
    let voice = Self.datagram()
    _ = Self.judge(&stream, voice, from: .foreign)
    let noise = Self.datagram(payloadType: 13)
    // Only its voice shows that the agreed host talks after all.
    #expect(Self.judge(&stream, noise, from: .agreed) == .accept)
    #expect(Self.judge(&stream, voice, from: .agreed) == .acceptAgreedAlone)
    #expect(Self.judge(&stream, voice, from: .agreed) == .accept)
    #expect(Self.judge(&stream, voice, from: .foreign) == .refuse)
  }

  // A network was changed: the newest packet shows where the far side is, an older one does not.
  @Test(arguments: [true, false])
  func aFarSideWithKeysIsFollowedToItsNewAddress(follows: Bool) throws {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.isAuthenticated = true
    configuration.followsFarSide = follows
    var stream = try VoiceStream(configuration)
    // Keys that came in a description, and not from port to port, let nobody move the voice.
    let newest = follows ? SenderVerdict.acceptAndFollow : .acceptAndAdmit
    let older = follows ? SenderVerdict.accept : .acceptAndAdmit
    #expect(Self.judge(&stream, Self.datagram(sequence: 12), from: .agreed) == .accept)
    #expect(Self.judge(&stream, Self.datagram(sequence: 14), from: .foreign) == newest)
    #expect(Self.judge(&stream, Self.datagram(sequence: 13), from: .foreign) == older)
    #expect(Self.judge(&stream, Self.datagram(sequence: 14), from: .foreign) == older)
    let now = MonotonicInstant(nanoseconds: 0)
    let report = ByteBuffer((0..<8).map { $0 == 0 ? 0x80 : $0 == 1 ? 201 : 0 })
    #expect(stream.judge(report, length: 8, from: .foreign, at: now) == .accept)
  }

  // After a hold a new stream begins where the far side was described to be.
  @Test func aFarSideThatHasMovedIsFollowedFromTheSecondPacketOfAStreamOn() throws {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.isAuthenticated = true
    configuration.followsFarSide = true
    var stream = try VoiceStream(configuration)
    #expect(Self.judge(&stream, Self.datagram(sequence: 1), from: .foreign) == .accept)
    #expect(Self.judge(&stream, Self.datagram(sequence: 2), from: .foreign) == .acceptAndFollow)
  }
}
