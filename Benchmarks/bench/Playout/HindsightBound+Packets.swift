import Codecs
import MediaCore
import ProgramRig
import RTP
import Simulation
import VoiceStream

extension HindsightBound {
  /// Creates the bound from the packets that every receiver gets.
  init(_ call: TestCall) {
    self.init(seconds: call.setting.seconds)
    for packet in call.packets {
      for first in [packet.frame, packet.frame - packet.frames]
      where first == packet.frame || packet.hasRedundancy {
        note(
          from: first,
          frames: packet.frames,
          mouth: TestCall.captured(first, drift: call.setting.drift),
          arrival: packet.arrival
        )
      }
    }
  }

  /// Notes the frames that a datagram of `call` brings, its copies included.
  mutating func note(_ datagram: [UInt8], at arrival: MonotonicInstant, of call: SimulatedCall) {
    let bytes = ByteBuffer(datagram)
    guard let packet = RTPPacket(parsing: bytes, length: datagram.count) else { return }
    func note(_ payload: Range<Int>, earlier ticks: Int, _ bound: inout HindsightBound) {
      let timestamp = packet.header.timestamp.advanced(by: -ticks)
      guard let frames = OpusVoiceDecoder.frames(of: bytes, in: payload) else { return }
      let first = call.capturedFrame(of: timestamp)
      bound.note(
        from: first,
        frames: Int64(frames),
        mouth: call.mouth(ofFrame: first),
        arrival: arrival
      )
    }
    guard packet.header.payloadType == StreamConfiguration.redundancyPayloadType else {
      return note(packet.payload, earlier: 0, &self)
    }
    var blocks = RedundantPayload(parsing: bytes, in: packet.payload)
    while let block = blocks?.next(in: bytes) {
      note(block.payload, earlier: block.timestampOffset, &self)
    }
  }
}
