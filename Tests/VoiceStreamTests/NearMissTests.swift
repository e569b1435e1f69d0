import MediaCore
import Testing

@testable import VoiceStream

/// A packet that is slightly late, and the sound until it arrives.
struct NearMissTests {
  /// A call of which no more packets arrive, and a loudspeaker for it.
  private struct EndedCall: ~Copyable {
    private var call: VirtualCall
    private var samples = SampleBuffer(repeating: 0, count: 480)

    init() throws {
      call = try VirtualCall(.opus(ssrc: 1, seed: 2))
      call.run(milliseconds: 3_000)
    }

    var queuedFrames: FrameCount? { call.near.playout?.queuedFrames }

    /// The frames that had to be invented for the next `count`.
    mutating func concealed(in count: FrameCount) -> Int64 {
      let before = call.near.takeStatistics(at: call.now).concealedFrames
      call.near.render(addingTo: &samples, count: count, at: call.now)
      return call.near.takeStatistics(at: call.now).concealedFrames - before
    }
  }

  @Test func aLittleLessThanIsAskedForLastsUntilTheNextPacketComes() throws {
    // So few at a time that a sixteenth of them is none: how long does all last that has come?
    let few = 7
    var call = try EndedCall()
    var requests = 0
    var rest = 0
    while requests < 10_000 {
      rest = call.queuedFrames ?? few
      if call.concealed(in: few) > 0 { break }
      requests += 1
    }
    #expect(requests > 20 && rest < few)

    func concealed(beyond more: FrameCount) throws -> Int64 {
      var call = try EndedCall()
      for _ in 0..<requests - 14 { _ = call.concealed(in: few) }
      return call.concealed(in: 14 * few + rest + more)
    }
    #expect(try concealed(beyond: 0) == 0)
    #expect(try concealed(beyond: 5) == 0)
    #expect(try concealed(beyond: 12) > 0)
  }
}
