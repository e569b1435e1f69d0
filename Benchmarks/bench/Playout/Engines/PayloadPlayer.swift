import MediaCore
import Codecs

/// Decoder of libopus over arrays, for yardsticks that need not be fast.
struct PayloadPlayer: ~Copyable {
  private var decoder: OpusVoiceDecoder
  private var bytes = ByteBuffer(repeating: 0, count: 1_500)
  private var samples = SampleBuffer(repeating: 0, count: OpusVoiceDecoder.maximumFrames)

  init() throws { decoder = try OpusVoiceDecoder() }

  mutating func decode(_ packet: ArrivedPacket) -> [Float] {
    take(packet.payload)
    let count = decoder.decode(bytes, in: 0..<packet.payload.count, into: &samples)
    return (0..<count).map { samples[$0] }
  }

  /// Returns the sound of the packet before this one, from the redundancy in it.
  mutating func recover(_ packet: ArrivedPacket) -> [Float] {
    take(packet.payload)
    let count = decoder.recover(
      bytes,
      in: 0..<packet.payload.count,
      into: &samples,
      frames: Int(packet.frames)
    )
    return (0..<count).map { samples[$0] }
  }

  mutating func conceal(_ frames: Int) -> [Float] {
    let count = decoder.conceal(into: &samples, frames: frames)
    return (0..<count).map { samples[$0] }
  }

  private mutating func take(_ payload: [UInt8]) {
    for (index, byte) in payload.enumerated() { bytes[index] = byte }
  }
}
