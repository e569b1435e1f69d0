import Foundation
import MediaCore
import RealTime
import Rig
import SIPSignalling
import Synchronization
import VoiceEngine

/// Places calls to one address and speaks on all of them.
final class LoadGenerator: Sendable {
  private let agent: UserAgent
  private let callers: [Caller]
  private let packets: [[UInt8]]
  private let thread = Mutex<RealTimeThread?>(nil)
  private let isStopping = StopFlag()

  private final class StopFlag: Sendable {
    let isSet = Atomic(false)
  }

  /// Creates callers that will send `speech`, at 48 kHz, each from another moment on.
  init(_ count: Int, saying speech: [Float]) throws {
    agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "load"))
    let packets = try Self.encode(speech)
    self.packets = packets
    callers = try (0..<count).map { index in
      try Caller(place: index * 7 % packets.count, ssrc: UInt32(1_000 + index))
    }
  }

  private static func encode(_ speech: [Float]) throws -> [[UInt8]] {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    configuration.packetFrames = 960
    var stream = try VoiceStream(configuration)
    let samples = SampleBuffer(speech)
    var block = SampleBuffer(repeating: 0, count: 960)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var packets: [[UInt8]] = []
    for begin in stride(from: 0, to: speech.count - 960, by: 960) {
      block.copy(from: samples, at: begin, count: 960)
      stream.push(block, count: 960, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        packets.append((12..<length).map { datagram[$0] })
      }
    }
    return packets
  }

  /// Places all calls, and returns the number of those whose media was agreed on within ten
  /// seconds.
  func call(_ address: String) async throws -> Int {
    _ = try await agent.start()
    if callers.isEmpty { return 0 }
    var byCall: [SIPCallID: Caller] = [:]
    for caller in callers {
      let offer = MediaOffer(host: "127.0.0.1", port: caller.port, packetMilliseconds: 20)
      byCall[try await agent.invite(address, offer: offer)] = caller
      try await Task.sleep(for: .milliseconds(5))
    }
    let agent = agent
    let deadline = Task {
      try await Task.sleep(for: .seconds(10))
      await agent.stop()
    }
    var agreed = 0
    for await event in agent.events {
      guard case .media(let id, let media) = event, let caller = byCall[id] else { continue }
      try caller.connect(to: media.host, media.port, payloadType: media.sendPayloadType)
      byCall[id] = nil
      agreed += 1
      if agreed == callers.count { break }
    }
    deadline.cancel()
    return agreed
  }

  /// Speaks on all calls from now on.
  func speak() throws {
    let (callers, packets, isStopping) = (callers, packets, isStopping)
    let thread = try RealTimeThread(name: "load", policy: .realTime) {
      let begin = MonotonicClock.now()
      var slot = 0
      // A hundredth of the callers at a time, as real ones would be spread.
      let slots = min(20, max(1, callers.count))
      while !isStopping.isSet.load(ordering: .acquiring) {
        let due = begin.advanced(byNanoseconds: Int64(slot) * 20_000_000 / Int64(slots))
        let wait = due.nanoseconds(since: MonotonicClock.now())
        if wait > 0 { usleep(UInt32(wait / 1_000)) }
        for index in stride(from: slot % slots, to: callers.count, by: slots) {
          callers[index].turn(packets)
        }
        slot += 1
      }
    }
    self.thread.withLock { $0 = thread }
  }

  /// Hangs up, and returns the share of the sent packets that came back, 0 to 1.
  func stop() async -> Double {
    isStopping.isSet.store(true, ordering: .releasing)
    thread.withLock { $0.take() }?.join()
    await agent.stop()
    let sent = callers.reduce(0) { $0 + $1.sent }
    return sent == 0 ? 0 : Double(callers.reduce(0) { $0 + $1.received }) / Double(sent)
  }
}
