import Testing

@testable import Playout

/// Gaps in the media time between packets of which none was lost.
struct LeftOutSoundTests {
  @Test(arguments: [(119, 0), (120, 120)])
  func whatTheSenderLeftOutIsConcealedIfADecoderCan(frames: Int, concealed: Int64) {
    var stream = VirtualStream()
    for index in 0..<500 {
      let leftOut = index < 400 ? 0 : frames
      stream.send(
        sequence: JitterBufferTests.first + Int64(index),
        mediaFrame: Int64(index * 480 + leftOut),
        at: Double(index * 10),
        delay: 5
      )
    }
    stream.run(milliseconds: 4_900)
    #expect(stream.decoded.count > 480)
    #expect(stream.buffer.counters.concealedFrames == concealed)
  }
}
