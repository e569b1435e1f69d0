import MediaCore
import RealTime
import Testing
import UDPTransport
import VoiceEngine
import VoiceStream

@testable import EchoServer

/// The thread itself, with sockets of the loopback interface.
@Suite(.timeLimit(.minutes(10)))
struct EchoEngineTests {
  /// A far side that talks to a stream: an echo without a voice is silent.
  private struct Talker: ~Copyable {
    let id: StreamID
    private var socket: MediaSocket
    private var voice: VoiceStream
    private var block = SampleBuffer(repeating: 0.1, count: 480)
    private var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    private var next = MonotonicClock.now()

    init(to engine: EchoEngine<MediaSocket>, ssrc: UInt32) throws {
      let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
      var here = try MediaSocket(bindingTo: any)
      var there = try MediaSocket(bindingTo: any)
      let talker = try #require(SocketAddress(host: "127.0.0.1", port: here.localPort))
      let echo = try #require(SocketAddress(host: "127.0.0.1", port: there.localPort))
      there.connect(to: talker, control: talker)
      here.connect(to: echo, control: echo)
      let voice = try VoiceStream(.opus(ssrc: ssrc + 1_000, seed: 3))
      id = try engine.streams.attach(.opus(ssrc: ssrc, seed: 2), over: there)
      self.voice = voice
      socket = here
    }

    /// Sends the packets of 10 ms that are due.
    mutating func talk() {
      let now = MonotonicClock.now()
      guard now >= next else { return }
      next = now.advanced(by: .milliseconds(10))
      voice.push(block, count: 480, isMuted: false)
      while let length = voice.nextPacket(into: &datagram) {
        socket.send(datagram, length: length, isControl: false)
      }
      _ = socket.receive(into: &datagram, at: now)
    }
  }

  private static func count(
    _ talker: borrowing Talker,
    _ engine: EchoEngine<MediaSocket>
  ) -> Int64 {
    engine.streams.statistics(of: talker.id)?.packetsReceived ?? 0
  }

  @Test func streamsRunUntilTheyAreDetached() throws {
    let engine = try EchoEngine<MediaSocket>(period: 480)
    var first = try Talker(to: engine, ssrc: 1)
    var second = try Talker(to: engine, ssrc: 2)
    while Self.count(first, engine) < 10 || Self.count(second, engine) < 10 {
      first.talk()
      second.talk()
    }
    engine.streams.detach(first.id)
    while engine.streams.statistics(of: first.id) != nil {}
    let count = Self.count(second, engine)
    while Self.count(second, engine) < count + 10 { second.talk() }
    #expect(engine.streams.statistics(of: second.id)?.packetsSent ?? 0 > 0)
    #expect(!engine.takeLateness().isEmpty)
    engine.stop()
    #expect(engine.streams.statistics(of: second.id) == nil)
    engine.stop()
  }

  @Test func threadEndsWithTheLastReference() throws {
    for _ in 0..<20 {
      weak var released: EchoEngine<MediaSocket>?
      do {
        let engine = try EchoEngine<MediaSocket>(period: 120)
        released = engine
        _ = try Talker(to: engine, ssrc: 1)
      }
      // Its end waits for that of the thread, which therefore does not keep it.
      #expect(released == nil)
    }
  }
}
