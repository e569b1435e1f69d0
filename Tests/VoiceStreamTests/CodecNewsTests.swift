import MediaCore
import RTP
import Testing

@testable import VoiceStream

struct CodecNewsTests {
  @Test func aCodecIsNewsOnceThreePacketsHaveComeInARow() {
    var inbox = DigitInbox(ticksPerEventTick: 1)
    for _ in 0..<2 { inbox.noteOther(8) }
    inbox.noteOwn()
    for _ in 0..<2 { inbox.noteOther(8) }
    #expect(inbox.take() == nil, "late ones of before a change")
    for _ in 0..<48 { inbox.noteOther(8) }
    #expect(inbox.take().flatMap { CodecNews(code: $0) }?.payloadType == 8)
    #expect(inbox.take() == nil, "the news comes once in a second")
    for code in UInt8(0)...16 { #expect(CodecNews(code: code) == nil) }
  }

  @Test func voiceOfAnotherAgreedCodecIsHeardOfAndNotPlayed() throws {
    var configuration = StreamConfiguration(
      codec: .pcmu,
      sendPayloadType: 0,
      receivePayloadType: 0,
      ssrc: 1,
      seed: 2
    )
    configuration.otherPayloadTypes = 1 << 8
    var stream = try VoiceStream(configuration)
    var packet = ByteBuffer(repeating: 0xD5, count: 172)
    func receive(_ payloadType: UInt8, _ number: UInt16) {
      RTPHeader(
        marker: false,
        payloadType: payloadType,
        sequenceNumber: number,
        timestamp: RTPTimestamp(rawValue: UInt32(number) * 160),
        ssrc: 7
      ).write(to: &packet)
      let time = MonotonicInstant(nanoseconds: Int64(number) * 20_000_000)
      stream.receive(packet, length: 172, at: ArrivalTime(instant: time, playback: time, wait: 0))
    }
    for number in UInt16(1)...10 { receive(9, number) }
    #expect(stream.takeDigit() == nil, "G.722 was not agreed on")
    for number in UInt16(11)...20 { receive(8, number) }
    #expect(stream.takeDigit().flatMap { CodecNews(code: $0) }?.payloadType == 8)
  }

  /// Events of both rates are agreed on (RFC 4733 section 2.5.1.1).
  @Test func digitsAreHeardAtBothRates() throws {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.receiveEventPayloadType = 102
    configuration.otherEvent = .init(payloadType: 101, clockRate: SampleRate(hertz: 8_000))
    var stream = try VoiceStream(configuration)
    var packet = ByteBuffer(repeating: 0, count: 16)
    var number: UInt16 = 0
    func press(_ code: UInt8, as payloadType: UInt8, at time: UInt32) {
      for _ in 0..<3 {
        number += 1
        RTPHeader(
          marker: false,
          payloadType: payloadType,
          sequenceNumber: number,
          timestamp: RTPTimestamp(rawValue: time),
          ssrc: 7
        ).write(to: &packet)
        packet[12] = code
        packet[15] = 160
        let now = MonotonicInstant(nanoseconds: Int64(number) * 20_000_000)
        stream.receive(
          packet,
          length: 16,
          at: ArrivalTime(instant: now, playback: now, wait: 0)
        )
      }
    }
    press(5, as: 101, at: 48_000)
    press(6, as: 102, at: 96_000)
    press(7, as: 101, at: 144_000)
    press(8, as: 100, at: 192_000)
    var heard: [UInt8] = []
    while let code = stream.takeDigit() { heard.append(code) }
    #expect(heard == [5, 6, 7])
  }
}
