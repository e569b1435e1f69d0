import MediaCore
import RTP
import Testing

@testable import VoiceStream

/// DTMF digits between two streams, whose durations count at the voice's rate or at 8 kHz.
struct StreamKeyTests {
  private static func configuration(_ eventClockRate: SampleRate?) -> StreamConfiguration {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.sendEventPayloadType = 101
    configuration.receiveEventPayloadType = 101
    configuration.eventClockRate = eventClockRate
    return configuration
  }

  /// Telephone events of the digit 7, each with the timestamp at which it began.
  private static func events(
    of configuration: StreamConfiguration
  ) throws -> [(event: TelephoneEvent, began: UInt32)] {
    var stream = try VoiceStream(configuration)
    var datagram = ByteBuffer(repeating: 0, count: 1_500)
    let silence = SampleBuffer(repeating: 0, count: 480)
    let isTaken = stream.press(7)
    #expect(isTaken)
    var events: [(TelephoneEvent, UInt32)] = []
    for _ in 0..<30 {
      stream.push(silence, count: 480, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        guard let packet = RTPPacket(parsing: datagram, length: length),
          packet.header.payloadType == 101,
          let event = TelephoneEvent(
            parsing: datagram,
            at: packet.payloadOffset,
            length: packet.payloadLength
          )
        else { continue }
        events.append((event, packet.header.timestamp.rawValue))
      }
    }
    return events
  }

  @Test func durationsCountAtTheRateThatWasAgreed() throws {
    let own = try Self.events(of: Self.configuration(nil))
    let common = try Self.events(of: Self.configuration(SampleRate(hertz: 8_000)))
    #expect(own.last?.event.duration == 4_800 && common.last?.event.duration == 800)
    // 100 ms of Opus are 4800 ticks in both.
    #expect(Set(common.map(\.began)).count == 1 && common.map(\.began) == own.map(\.began))
  }

  @Test(arguments: [nil, SampleRate(hertz: 8_000)])
  func aLongKeyIsHeardOnce(eventClockRate: SampleRate?) throws {
    var inbox = DigitInbox(ticksPerEventTick: Self.configuration(eventClockRate).ticksPerEventTick)
    let segment: UInt32 = 65_535 * (eventClockRate == nil ? 1 : 6)
    var datagram = ByteBuffer(repeating: 0, count: RTPHeader.minimumLength + TelephoneEvent.length)
    for (index, began) in [0, 0, segment].enumerated() {
      let header = RTPHeader(
        marker: index == 0,
        payloadType: 101,
        sequenceNumber: UInt16(index),
        timestamp: RTPTimestamp(rawValue: began),
        ssrc: 1
      )
      header.write(to: &datagram)
      let event = TelephoneEvent(code: 7, isEnd: false, duration: index == 0 ? 160 : 60_000)
      event.write(to: &datagram, at: RTPHeader.minimumLength)
      let packet = RTPPacket(parsing: datagram, length: datagram.count)
      inbox.receive(try #require(packet), in: datagram)
    }
    let first = inbox.take()
    let second = inbox.take()
    #expect(first == 7 && second == nil)
  }
}
