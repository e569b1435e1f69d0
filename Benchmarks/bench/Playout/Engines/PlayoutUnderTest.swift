import MediaCore

/// A packet as it came out of the network.
struct ArrivedPacket {
  let sequence: Int
  /// Of its first frame, at 48 kHz since the call began.
  let frame: Int64
  let frames: Int64
  let payload: [UInt8]
  /// Whether it brings the packet before it once more.
  let hasRedundancy: Bool
  let arrival: MonotonicInstant
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
