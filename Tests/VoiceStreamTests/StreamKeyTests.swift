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

  /// A re-INVITE ends the streams of both sides, and others go on, after `packets` packet times:
  /// in a digit, in the pause behind it, between packets of its end.
  @Test(arguments: [2, 7, 11, 12, 13, 15, 20, 40])
  func digitsOutliveAChangeOfTheStream(packets: Int) throws {
    var configuration = Self.configuration(SampleRate(hertz: 8_000))
    var sender = try VoiceStream(configuration)
    configuration.ssrc = 3
    var receiver = try VoiceStream(configuration)
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var datagram = ByteBuffer(repeating: 0, count: 1_500)
    let silence = SampleBuffer(repeating: 0, count: 480)
    var heard: [UInt8] = []
    for code in [UInt8](1...4) {
      let isTaken = sender.press(code)
      #expect(isTaken)
    }
    for count in 0..<100 {
      if count == packets {
        var next = try VoiceStream(configuration)
        var following = try VoiceStream(configuration)
        let isTaken = next.press(5)
        #expect(isTaken)
        next.resume(from: sender.position(at: now), at: now)
        following.resume(from: receiver.position(at: now), at: now)
        sender = next
        receiver = following
      }
      now = now.advanced(byNanoseconds: 10_000_000)
      sender.push(silence, count: 480, isMuted: false)
      while let length = sender.nextPacket(into: &datagram) {
        // The source keeps its SSRC, as `VoiceStreams.attach` sees to.
        datagram[11] = 1
        let arrival = ArrivalTime(instant: now, playback: now, wait: 0)
        receiver.receive(datagram, length: length, at: arrival)
      }
      while let code = receiver.takeDigit() { heard.append(code) }
    }
    #expect(heard == [1, 2, 3, 4, 5])
  }

  /// After a hold they would come at another time than they were pressed for.
  @Test(arguments: [(true, 5.0), (false, 0.1)])
  func digitsOfBeforeAHoldAreNotSent(maySend: Bool, seconds: Double) throws {
    var configuration = Self.configuration(nil)
    configuration.maySend = maySend
    var before = try VoiceStream(configuration)
    let isTaken = before.press(7)
    #expect(isTaken)
    let now = MonotonicInstant(nanoseconds: 1_000_000_000)
    let later = now.advanced(byNanoseconds: Int64(seconds * 1e9))
    var stream = try VoiceStream(Self.configuration(nil))
    stream.resume(from: before.position(at: now), at: later)
    let sendsVoice = stream.sendsVoice
    #expect(sendsVoice)
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
