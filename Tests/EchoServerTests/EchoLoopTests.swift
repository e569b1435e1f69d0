import Foundation
import MediaCore
import RealTime
import Simulation
import Testing
import VoiceEngine

@testable import EchoServer

/// A caller and an echo server, 1 ms apart, in virtual time.
struct EchoLoopTests {
  private let time = VirtualTime()
  private let streams: VoiceStreams<SimulatedTransport>
  private let loop: EchoLoop<SimulatedTransport, VirtualTime>
  private let towardsServer: SimulatedLink
  private let towardsCaller: SimulatedLink
  private let callee: StreamID

  init() throws {
    let network = NetworkConditions("one millisecond", delayMilliseconds: 1)
    towardsServer = SimulatedLink(EmulatedNetwork(network, seed: 1))
    towardsCaller = SimulatedLink(EmulatedNetwork(network, seed: 2))
    let signals = try LoopSignals()
    streams = VoiceStreams(signals)
    loop = EchoLoop(
      period: 480,
      streams: streams.makeTable(),
      signals: signals,
      lateness: RingProducer(capacity: 4_096),
      time: time
    )
    let transport = SimulatedTransport(
      sending: towardsCaller,
      receiving: towardsServer,
      time: time
    )
    callee = try streams.attach(.opus(ssrc: 2, seed: 7), over: transport)
  }

  /// A caller that sends bursts of a tone, and the sound that comes back.
  private struct Caller: ~Copyable {
    var stream: VoiceStream
    var heard: [Float] = []
    var timestamps: [UInt32] = []
    private var frame = 0
    private var block = SampleBuffer(repeating: 0, count: 120)
    private var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)

    init(_ configuration: StreamConfiguration = .opus(ssrc: 1, seed: 3)) throws {
      stream = try VoiceStream(configuration)
    }

    /// 2.5 ms of the call; the tone sounds in the first 100 ms of each half second.
    mutating func turn(at now: MonotonicInstant, _ up: SimulatedLink, _ down: SimulatedLink) {
      for index in 0..<120 {
        let place = frame + index
        let isSounding = place % 24_000 < 4_800
        block[index] = isSounding ? 0.3 * sin(Float(place) * 2 * .pi * 440 / 48_000) : 0
      }
      frame += 120
      stream.push(block, count: 120, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        up.send(datagram, length: length, at: now)
      }
      while let (length, arrival) = down.receive(into: &datagram, at: now) {
        if length > 12, datagram[1] & 0x7F == 96 {
          timestamps.append((4..<8).reduce(0) { $0 << 8 | UInt32(datagram[$1]) })
        }
        let came = ArrivalTime(instant: arrival, playback: arrival, wait: 0)
        stream.receive(datagram, length: length, at: came)
      }
      block.fill(0, count: 120)
      stream.render(addingTo: &block, count: 120, at: now)
      for index in 0..<120 { heard.append(block[index]) }
    }
  }

  private func run(_ caller: inout Caller, milliseconds: Int, isServerStopped: Bool = false) {
    for _ in 0..<milliseconds * 2 / 5 {
      caller.turn(at: time.now, towardsServer, towardsCaller)
      time.advance(to: time.now.advanced(byNanoseconds: 2_500_000))
      if !isServerStopped { loop.turn() }
    }
  }

  @Test func callerHearsEachBurstOnceWithinAFewPackets() throws {
    var caller = try Caller()
    run(&caller, milliseconds: 3_000)
    // The bursts of seconds 1 to 3: when each begins and ends, in what came back.
    for burst in 2..<5 {
      let begin = burst * 24_000
      let loud = (begin..<begin + 24_000).filter { abs(caller.heard[$0]) > 0.1 }
      let first = try #require(loud.first)
      let last = try #require(loud.last)
      let delay = Double(first - begin) / 48
      // Two packets of 10 ms, a period of 10 ms and two jitter buffers of 10 ms are its parts.
      #expect(delay > 22 && delay < 80, "\(delay) ms")
      #expect(abs(Double(last - first) / 48 - 100) < 15, "a burst of 100 ms came back whole")
    }
  }

  @Test func serverThatStoodStillSendsAGapAndNoBurst() throws {
    var caller = try Caller()
    run(&caller, milliseconds: 1_000)
    let before = caller.timestamps.count
    run(&caller, milliseconds: 5_000, isServerStopped: true)
    let newest = try #require(caller.timestamps.last)
    let sent = towardsCaller.sent
    loop.turn()
    #expect(towardsCaller.sent - sent < 10, "five seconds would be 500 packets")
    run(&caller, milliseconds: 200)
    let next = caller.timestamps[before...].first { $0 &- newest > 48_000 }
    let gap = Double(try #require(next) &- newest) / 48_000
    #expect(abs(gap - 5) < 0.3, "the timestamps go on with time: \(gap) s")
  }

  /// A machine that cannot keep up: each look at the clock takes longer than a period.
  private final class SlowTime: TimeSource {
    private let time = VirtualTime()

    var now: MonotonicInstant {
      time.advance(to: time.now.advanced(byNanoseconds: 12_000_000))
      return time.now
    }

    var wallNanoseconds: Int64 { time.wallNanoseconds }
  }

  @Test func overloadedServerStillTakesCommands() throws {
    let signals = try LoopSignals()
    let streams = VoiceStreams<SimulatedTransport>(signals)
    let loop = EchoLoop<SimulatedTransport, SlowTime>(
      period: 480,
      streams: streams.makeTable(),
      signals: signals,
      lateness: RingProducer(capacity: 4_096),
      time: SlowTime()
    )
    let transport = SimulatedTransport(
      sending: towardsCaller,
      receiving: towardsServer,
      time: time
    )
    let stream = try streams.attach(.opus(ssrc: 2, seed: 7), over: transport)
    for _ in 0..<100 { loop.turn() }
    streams.detach(stream)
    loop.turn()
    #expect(streams.statistics(of: stream) == nil, "each turn ends, however late it is")
  }

  @Test func callerThatGoesGetsAGoodbyeAndItsStreamEnds() throws {
    var caller = try Caller()
    run(&caller, milliseconds: 500)
    #expect(streams.statistics(of: callee)?.packetsReceived ?? 0 >= 40)
    streams.detach(callee)
    run(&caller, milliseconds: 100)
    #expect(streams.statistics(of: callee) == nil)
    #expect(caller.stream.takeStatistics(at: time.now).isFarGone)
    let sent = towardsCaller.sent
    run(&caller, milliseconds: 500)
    #expect(towardsCaller.sent == sent)
  }

  /// An echo sends no more packets than it receives, so that it cannot flood a stranger.
  @Test func echoSendsNoMoreThanItGets() throws {
    var caller = try Caller()
    for _ in 0..<300 {
      run(&caller, milliseconds: 10)
      // Beside reports, of which there is one in seconds.
      #expect(caller.timestamps.count <= towardsServer.sent)
    }
    let sent = towardsCaller.sent
    #expect(sent > 250, "an echo of 3 s in packets of 10 ms")
    // The caller says nothing more.
    for _ in 0..<200 {
      time.advance(to: time.now.advanced(byNanoseconds: 10_000_000))
      loop.turn()
    }
    #expect(towardsCaller.sent - sent < 12, "what was in the buffer, and reports")
  }

  /// A server on the path may change to another source in the middle of a call.
  @Test func echoGoesOnWithAnotherSource() throws {
    var caller = try Caller()
    run(&caller, milliseconds: 3_000)
    var other = try Caller(.opus(ssrc: 77, seed: 9))
    run(&other, milliseconds: 3_000)
    // The other one is heard once the first has been silent for a while.
    #expect(other.timestamps.count > 180)
  }

  /// Packets of 20 ms are echoed in packets of 20 ms.
  @Test func echoFollowsTheDurationOfPackets() throws {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 3)
    configuration.packetFrames = 960
    var caller = try Caller(configuration)
    run(&caller, milliseconds: 3_000)
    #expect(caller.timestamps.count > 125 && caller.timestamps.count <= 150)
    let steps = zip(caller.timestamps.dropFirst(), caller.timestamps).map { $0 &- $1 }
    #expect(steps.suffix(100).allSatisfy { $0 == 960 })
  }

  @Test func mutedCalleeSendsSilence() throws {
    var caller = try Caller()
    streams.setMuted(callee, .muted)
    run(&caller, milliseconds: 2_000)
    #expect(caller.timestamps.count > 150)
    #expect(caller.heard.allSatisfy { abs($0) < 0.001 })
  }
}
