import MediaCore
import Playout
import RTP
import VoiceEngine

/// Sidetone's own receiver: the receiving half of its voice path.
final class OwnPlayout: PlayoutUnderTest {
  let name: String
  let pullFrames: Int
  private var stream: VoiceStream
  private var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
  private var block: SampleBuffer
  private var now = MonotonicInstant(nanoseconds: 0)
  private var concealed: Int64 = 0

  init(pullFrames: Int, decoderComplexity: Int?, without ablation: Ablation? = nil) throws {
    name = ablation?.name ?? "sidetone"
    self.pullFrames = pullFrames
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.playout = ablation?.mechanisms ?? PlayoutMechanisms()
    configuration.decoderComplexity = decoderComplexity
    stream = try VoiceStream(configuration)
    block = SampleBuffer(repeating: 0, count: pullFrames)
  }

  var concealedFrames: Int64 { concealed }

  var position: (frame: Int64, queued: Int)? {
    stream.playout.map { (Int64($0.timestamp.rawValue), $0.queuedFrames) }
  }

  func receive(_ packet: ArrivedPacket) {
    let header = RTPHeader(
      marker: false,
      payloadType: 96,
      sequenceNumber: UInt16(truncatingIfNeeded: packet.sequence),
      timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: packet.frame)),
      ssrc: 2
    )
    header.write(to: &datagram)
    for (index, byte) in packet.payload.enumerated() {
      datagram[RTPHeader.minimumLength + index] = byte
    }
    let length = RTPHeader.minimumLength + packet.payload.count
    stream.receive(
      datagram,
      length: length,
      at: ArrivalTime(
        instant: packet.arrival,
        playback: packet.arrival,
        wait: nextPull(after: packet.arrival).nanoseconds(since: packet.arrival)
      )
    )
  }

  private func nextPull(after instant: MonotonicInstant) -> MonotonicInstant {
    let frames = (instant.nanoseconds * 3 + 62_499) / 62_500
    let pulls = (frames + Int64(pullFrames) - 1) / Int64(pullFrames)
    return MonotonicInstant(nanoseconds: pulls * Int64(pullFrames) * 62_500 / 3)
  }

  func render(into output: inout [Float], at instant: MonotonicInstant) {
    block.fill(0, count: pullFrames)
    stream.render(addingTo: &block, count: pullFrames, at: instant)
    for index in 0..<pullFrames { output.append(block[index]) }
    concealed = stream.takeStatistics(at: instant).concealedFrames
  }
}
