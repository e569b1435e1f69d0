import MediaCore
import RTP
import Testing

/// DTMF digits as telephone events: format, repetition, order (RFC 4733).
struct TelephoneEventTests {
  private let packetFrames = 480

  @Test func payloadIsFourBytesInNetworkOrder() throws {
    var bytes = ByteBuffer(repeating: 0xFF, count: 8)
    let event = TelephoneEvent(code: 11, isEnd: true, volume: 10, duration: 0x12_34)
    event.write(to: &bytes, at: 1)
    let written = (0..<6).map { bytes[$0] }
    #expect(written == [0xFF, 11, 0x8A, 0x12, 0x34, 0xFF])
    let read = TelephoneEvent(parsing: bytes, at: 1, length: 4)
    #expect(read == event)
    let short = TelephoneEvent(parsing: bytes, at: 1, length: 3)
    let beyond = TelephoneEvent(parsing: bytes, at: 6, length: 4)
    #expect(short == nil && beyond == nil)
  }

  @Test func keysHaveTheirCodes() {
    #expect(
      "0123456789*#ABCDabcd".compactMap { TelephoneEvent.code(of: $0) }
        == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15]
    )
    #expect(TelephoneEvent.code(of: "x") == nil && TelephoneEvent.code(of: "٣") == nil)
    #expect(TelephoneEvent.key(of: 11) == "#" && TelephoneEvent.key(of: 16) == nil)
  }

  /// Telephone events sent in `slots` packet times after the digits `codes` were pressed.
  ///
  /// Each comes with its slot and the RTP timestamp at which the digit began.
  private func send(_ codes: [UInt8], slots: Int) -> [(slot: Int, TelephoneEvent, RTPTimestamp)] {
    var sender = TelephoneEventSender()
    for code in codes {
      let isTaken = sender.press(code)
      #expect(isTaken)
    }
    var timestamp = RTPTimestamp(rawValue: UInt32.max - 1_000)
    var sent: [(slot: Int, TelephoneEvent, RTPTimestamp)] = []
    for slot in 0..<slots {
      let next = sender.next(frames: packetFrames, at: timestamp, framesPerTick: 1)
      if case .event(let event, let began, let isFirst) = next {
        #expect(isFirst == !sent.contains { $0.2 == began })
        sent.append((slot, event, began))
      }
      timestamp = timestamp.advanced(by: packetFrames)
    }
    return sent
  }

  @Test func keySoundsForATenthOfASecondAndItsEndComesThreeTimes() {
    let sent = send([5], slots: 40)
    #expect(sent.allSatisfy { $0.1.code == 5 && $0.2 == sent[0].2 })
    #expect(sent.count { $0.1.isEnd } == 3)
    #expect(sent.filter(\.1.isEnd).allSatisfy { $0.1.duration == 4_800 })
    #expect(sent.map(\.1.duration) == sent.map(\.1.duration).sorted())
    #expect(sent.last.map { $0.slot } ?? 99 <= 15)
  }

  @Test func keysFollowOneAnotherWithAPauseOfVoice() throws {
    let sent = send([1, 2], slots: 60)
    let first = try #require(sent.last { $0.1.code == 1 })
    let second = try #require(sent.first { $0.1.code == 2 })
    #expect(second.slot - first.slot >= 6)
    #expect(sent.count { $0.1.isEnd } == 6)
  }

  @Test func receiverHearsEachKeyOnceWhateverIsLost() {
    let sent = send([1, 1, 9], slots: 90)
    for lost in 0..<3 {
      var receiver = TelephoneEventReceiver()
      var heard: [UInt8] = []
      for (index, packet) in sent.enumerated() where index % 3 != lost {
        if let code = receiver.receive(packet.1, began: packet.2) { heard.append(code) }
        // A duplicate changes nothing.
        let again = receiver.receive(packet.1, began: packet.2)
        #expect(again == nil)
      }
      #expect(heard == [1, 1, 9])
    }
  }

  /// Digits that a receiver reports for packets of the digit 7.
  ///
  /// Each packet has the digit's first RTP timestamp, its duration so far and its end bit.
  private func heard(
    _ packets: [(began: UInt32, duration: UInt16, isEnd: Bool)],
    ticksPerEventTick: Int = 1
  ) -> [UInt8] {
    var receiver = TelephoneEventReceiver(ticksPerEventTick: ticksPerEventTick)
    return packets.compactMap { began, duration, isEnd in
      receiver.receive(
        TelephoneEvent(code: 7, isEnd: isEnd, duration: duration),
        began: RTPTimestamp(rawValue: began)
      )
    }
  }

  /// Timestamps may go back at any time, as when a bridge takes the stream over.
  @Test func keyAfterABackwardJumpIsHeard() {
    let keys: [(UInt32, UInt16, Bool)] = [(200_000, 800, true), (110_000, 800, true)]
    #expect(heard(keys) == [7, 7])
    // Late packets of the first one are not a third.
    #expect(heard(keys + [(200_000, 800, true), (110_000, 800, true)]) == [7, 7])
  }

  @Test func keyThatIsHeldForLongIsHeardOnce() {
    #expect(heard([(0, 960, false), (0, 65_535, false), (65_535, 960, false)]) == [7])
    // The last packet of the first segment is lost.
    #expect(heard([(0, 960, false), (0, 64_000, false), (65_535, 960, false)]) == [7])
    #expect(heard([(0, 960, false), (960, 960, false), (1_920, 960, true)]) == [7])
    // Durations at 8 kHz, timestamps at 48.
    #expect(heard([(0, 160, false), (960, 160, true)], ticksPerEventTick: 6) == [7])
    #expect(heard([(0, 65_000, false), (393_210, 9, true)], ticksPerEventTick: 6) == [7])
    #expect(heard([(0, 65_000, false), (65_535, 9, true)], ticksPerEventTick: 6) == [7])
    #expect(heard([(0, 160, false), (160, 160, true)], ticksPerEventTick: 6) == [7, 7])
    // One that has ended is pressed anew, even at once.
    #expect(heard([(0, 4_800, true), (4_800, 960, false)]) == [7, 7])
  }

  @Test func keysAreHeardAfterTheSendersTimeHasJumped() {
    #expect(heard([(2_000_000_000, 960, true), (1_000, 960, false)]) == [7, 7])
    // A packet that was overtaken is of the key before.
    #expect(heard([(100_000, 960, true), (90_000, 960, true)]) == [7])
  }

  @Test func lateSenderIsFullAtSixtyFourKeys() {
    var sender = TelephoneEventSender()
    var taken = 0
    for _ in 0..<70 where sender.press(1) { taken += 1 }
    #expect(taken == 64)
  }
}
