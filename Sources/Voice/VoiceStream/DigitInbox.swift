import MediaCore
import RTP

/// Notice that the far side sends another agreed codec, passed on as a code of 128 or more beside
/// those of DTMF digits (0 to 16).
package struct CodecNews: Equatable, Sendable {
  /// The payload type that it sends, 0 to 127.
  package let payloadType: UInt8

  init(payloadType: UInt8) { self.payloadType = payloadType & 127 }

  /// Decodes the notice in a code; nil for the code of a digit.
  package init?(code: UInt8) {
    guard code >= 128 else { return nil }
    payloadType = code & 127
  }

  var code: UInt8 {
    @_noAllocation @_noLocks get { 128 | payloadType }
  }
}

/// Latest digits of a far side, which the next stream of the same source takes over: a digit may go
/// on while the call changes its address or its codec, at the same clock rate.
struct DigitHistory: BitwiseCopyable, Sendable {
  /// Source of the digits; nil before there is one.
  var ssrc: UInt32?
  var receiver = TelephoneEventReceiver()
  var otherReceiver = TelephoneEventReceiver()
}

/// Queue of received DTMF digits and of notices that the far side sends another agreed codec, at
/// most 16 in all.
struct DigitInbox: ~Copyable {
  private var receiver: TelephoneEventReceiver
  private var otherReceiver: TelephoneEventReceiver
  private var ssrc: UInt32?
  /// Source of a former stream's digits, while no packet of this stream has come.
  private var former: UInt32?
  /// True while all digits that are known are a former stream's.
  private var isCarried = false
  private var codes = FixedArray<UInt8>(repeating: 0, count: 16)
  private var count = 0
  /// Packets of another codec since the last one of the stream's own.
  private var others = 0
  /// Number of packets of another codec in a row that prove a change; a single one may just be
  /// late.
  private static let proof = 3
  /// Number of packets after which a notice is repeated, as it may have come too early to be
  /// followed.
  private static let interval = 50

  /// Creates an empty inbox.
  ///
  /// An event's duration counts `ticksPerEventTick` of the RTP clock per tick, or `ticksPerOther`
  /// for events at another rate.
  init(ticksPerEventTick: Int, ticksPerOther: Int = 1) {
    receiver = TelephoneEventReceiver(ticksPerEventTick: ticksPerEventTick)
    otherReceiver = TelephoneEventReceiver(ticksPerEventTick: ticksPerOther)
  }

  /// The digits that are known, for the stream that follows.
  var history: DigitHistory {
    DigitHistory(ssrc: ssrc ?? former, receiver: receiver, otherReceiver: otherReceiver)
  }

  /// Takes over what the stream before this one has heard, unless this one has heard something.
  mutating func follow(_ history: DigitHistory) {
    guard ssrc == nil, let source = history.ssrc else { return }
    former = source
    receiver.follow(history.receiver)
    otherReceiver.follow(history.otherReceiver)
  }

  /// Notes that the far side starts its timestamps anew, as the source `ssrc`.
  @_noAllocation @_noLocks
  mutating func restart(_ ssrc: UInt32) {
    // The first packets of this stream may be in the middle of a digit that is known.
    isCarried = former == ssrc
    if !isCarried {
      receiver.restart()
      otherReceiver.restart()
    }
    (self.ssrc, former) = (ssrc, nil)
  }

  /// Processes a packet of an event; `isOther` is true for one at the other rate.
  @_noAllocation @_noLocks
  mutating func receive(
    _ packet: RTPPacket,
    in datagram: borrowing ByteBuffer,
    isOther: Bool = false
  ) {
    let event = TelephoneEvent(
      parsing: datagram,
      at: packet.payloadOffset,
      length: packet.payloadLength
    )
    guard let event, count < codes.count else { return }
    let began = packet.header.timestamp
    // Any other digit is a new one: the timestamps may have begun anew.
    if isCarried, !(isOther ? otherReceiver.knows(began) : receiver.knows(began)) {
      isCarried = false
      receiver.restart()
      otherReceiver.restart()
    }
    let received =
      isOther
      ? otherReceiver.receive(event, began: began) : receiver.receive(event, began: began)
    guard let code = received else { return }
    codes[count] = code
    count += 1
  }

  /// Counts a packet of another agreed codec, and queues a notice after three in a row.
  @_noAllocation @_noLocks
  mutating func noteOther(_ payloadType: UInt8) {
    others += 1
    guard others % Self.interval == Self.proof, count < codes.count else { return }
    codes[count] = CodecNews(payloadType: payloadType).code
    count += 1
  }

  /// Notes a packet of the stream's own codec.
  @_noAllocation @_noLocks
  mutating func noteOwn() { others = 0 }

  /// Removes and returns the code of the next digit or notice, nil if there is none.
  @_noAllocation @_noLocks
  mutating func take() -> UInt8? {
    guard count > 0 else { return nil }
    let code = codes[0]
    count -= 1
    for index in 0..<count { codes[index] = codes[index + 1] }
    return code
  }
}
