import MediaCore
import RealTime
import Testing
import UDPTransport
import VoiceEngine

@testable import EchoServer

/// The thread itself, with sockets of the loopback interface.
@Suite(.timeLimit(.minutes(1)))
struct EchoEngineTests {
  private static func stream(of engine: EchoEngine<MediaSocket>, ssrc: UInt32) throws -> StreamID {
    try engine.streams.attach(.opus(ssrc: ssrc, seed: 2), over: try MediaSocket.toItself())
  }

  @Test func streamsRunUntilTheyAreDetached() throws {
    let engine = try EchoEngine<MediaSocket>(period: 480)
    let first = try Self.stream(of: engine, ssrc: 1)
    let second = try Self.stream(of: engine, ssrc: 2)
    // Each sends to itself: what it sends comes back.
    for stream in [first, second] {
      while engine.streams.statistics(of: stream)?.packetsReceived ?? 0 < 10 {}
    }
    engine.streams.detach(first)
    while engine.streams.statistics(of: first) != nil {}
    let count = engine.streams.statistics(of: second)?.packetsReceived ?? 0
    while engine.streams.statistics(of: second)?.packetsReceived ?? 0 < count + 10 {}
    #expect(!engine.takeLateness().isEmpty)
    engine.stop()
    #expect(engine.streams.statistics(of: second) == nil)
    engine.stop()
  }

  @Test func threadEndsWithTheLastReference() throws {
    for _ in 0..<20 {
      let engine = try EchoEngine<MediaSocket>(period: 120)
      _ = try Self.stream(of: engine, ssrc: 1)
    }
  }
}
