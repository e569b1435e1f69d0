import MediaCore
import RTP

/// Received DTMF digits that have not been taken yet, at most 16.
struct DigitInbox: ~Copyable {
  private var receiver: TelephoneEventReceiver
  private var codes = FixedArray<UInt8>(repeating: 0, count: 16)
  private var count = 0

  /// Nothing was pressed; an event's duration counts ticks of so many of the RTP clock.
  init(ticksPerEventTick: Int) {
    receiver = TelephoneEventReceiver(ticksPerEventTick: ticksPerEventTick)
  }

  /// The far side counts its timestamps anew.
  @_noAllocation @_noLocks
  mutating func restart() {
    receiver.restart()
  }

  /// Takes in a packet of an event.
  @_noAllocation @_noLocks
  mutating func receive(_ packet: RTPPacket, in datagram: borrowing ByteBuffer) {
    let event = TelephoneEvent(
      parsing: datagram,
      at: packet.payloadOffset,
      length: packet.payloadLength
    )
    guard let event, count < codes.count,
      let code = receiver.receive(event, began: packet.header.timestamp)
    else { return }
    codes[count] = code
    count += 1
  }

  /// Takes the code of the next digit, nil when there is none.
  @_noAllocation @_noLocks
  mutating func take() -> UInt8? {
    guard count > 0 else { return nil }
    let code = codes[0]
    count -= 1
    for index in 0..<count { codes[index] = codes[index + 1] }
    return code
  }
}
