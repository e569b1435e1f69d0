import MediaTime

/// A packet as it came out of the network.
struct ArrivedPacket {
  let sequence: Int
  /// Of its first frame, at 48 kHz since the call began.
  let frame: Int64
  let frames: Int64
  let payload: [UInt8]
  let arrival: MonotonicInstant

  /// Whether Opus put the packet before it in again (RFC 6716 section 4.2.4: the second bit of a SILK frame).
  var hasRedundancy: Bool {
    payload.count > 1 && payload[0] >> 3 < 16 && payload[1] & 0x40 != 0
  }
}

/// A receiver that is fed packets and asked for sound.
protocol PlayoutUnderTest: AnyObject {
  var name: String { get }
  /// How many frames it is asked for at a time.
  var pullFrames: Int { get }
  /// What it invented so far.
  var concealedFrames: Int64 { get }
  /// The frame that is decoded next and how much sounds before it; nil while a loss is concealed.
  var position: (frame: Int64, queued: Int)? { get }

  /// Takes in a packet, which arrived before the next `render`.
  func receive(_ packet: ArrivedPacket)

  /// Appends the next `pullFrames` frames, which begin to sound at `instant`.
  func render(into output: inout [Float], at instant: MonotonicInstant)
}
