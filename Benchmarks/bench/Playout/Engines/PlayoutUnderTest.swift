import MediaCore

/// A packet as it came out of the network.
struct ArrivedPacket {
  let sequence: Int
  /// Index of its first frame, at 48 kHz since the call began.
  let frame: Int64
  let frames: Int64
  let payload: [UInt8]
  /// True if it carries a redundant copy of the packet before it.
  let hasRedundancy: Bool
  let arrival: MonotonicInstant
}

/// A receiver that is given packets and asked for sound.
protocol PlayoutUnderTest: AnyObject {
  var name: String { get }
  /// Number of frames that it is asked for at a time.
  var pullFrames: Int { get }
  /// Number of frames concealed so far.
  var concealedFrames: Int64 { get }
  /// Next frame to decode, and the number of frames that sound before it; nil while a loss is
  /// concealed.
  var position: (frame: Int64, queued: Int)? { get }

  /// Takes in a packet that arrived before the next `render`.
  func receive(_ packet: ArrivedPacket)

  /// Appends the next `pullFrames` frames, which begin to sound at `instant`.
  func render(into output: inout [Float], at instant: MonotonicInstant)
}
