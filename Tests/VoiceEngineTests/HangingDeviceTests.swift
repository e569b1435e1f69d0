import CLinux
import MediaCore
import RealTime
import Testing
@testable import VoiceEngine

/// A voice thread that is blocked in a device whose sound server has stopped.
struct HangingDeviceTests {
  private final class Server: Sendable {
    let isReady: WakeEvent
    /// Signalled to let the next read hang.
    let stops: WakeEvent
    let isAsked: WakeEvent
    let goesOn: WakeEvent
    let isClosed: WakeEvent

    init() throws {
      isReady = try WakeEvent()
      stops = try WakeEvent()
      isAsked = try WakeEvent()
      goesOn = try WakeEvent()
      isClosed = try WakeEvent()
      isReady.signal()
    }
  }

  @_noAllocation @_noLocks
  private static func isSignalled(_ descriptor: CInt, within nanoseconds: Int64) -> Bool {
    var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe realtime_poll(&waited, 1, nanoseconds) > 0
  }

  /// A headset whose microphone is silent until the server stops, and captures 20 ms once it goes
  /// on.
  private struct HangingHeadset: IdleDevice, ~Copyable {
    private let server: Server
    /// Descriptors of the events, since the voice thread counts no references.
    private let isReady: CInt
    private let stops: CInt
    private let isAsked: CInt
    private let goesOn: CInt

    init(of server: Server) {
      self.server = server
      isReady = server.isReady.descriptor
      stops = server.stops.descriptor
      isAsked = server.isAsked.descriptor
      goesOn = server.goesOn.descriptor
    }

    deinit { server.isClosed.signal() }

    mutating func pollDescriptors(_ all: inout FixedArray<pollfd>, from first: Int) -> Int {
      all[first] = pollfd(fd: isReady, events: Int16(POLLIN), revents: 0)
      return 1
    }

    @_noAllocation @_noLocks
    mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
      guard HangingDeviceTests.isSignalled(stops, within: 0) else { return .init(frames: 0) }
      realtime_event_signal(isAsked)
      _ = HangingDeviceTests.isSignalled(goesOn, within: -1)
      block.fill(0.5, count: 960)
      return DeviceTransfer(frames: 960)
    }
  }

  /// A path that signals each packet of voice.
  private struct WatchedPath: PacketTransport, ~Copyable {
    let sent: CInt

    @_noAllocation @_noLocks
    mutating func receive(
      into buffer: inout ByteBuffer,
      at now: MonotonicInstant
    ) -> TransportOutcome { .empty }
    @_noAllocation @_noLocks
    mutating func admitLastSource() {}
    @_noAllocation @_noLocks
    mutating func followLastSource() {}
    @_noAllocation @_noLocks
    mutating func forgetAdmitted() {}
    @_noAllocation @_noLocks
    mutating func send(_ datagram: borrowing ByteBuffer, length: Int, isControl: Bool) {
      if !isControl { realtime_event_signal(sent) }
    }
  }

  @Test func nothingIsSaidOnceAnEngineThatHungHasEnded() throws {
    let server = try Server()
    let sent = try WakeEvent()
    let engine = try VoiceEngine<HangingHeadset, WatchedPath>(
      device: HangingHeadset(of: server),
      settings: EngineSettings()
    )
    let stream = try engine.streams.attach(
      .opus(ssrc: 1, seed: 2),
      over: WatchedPath(sent: sent.descriptor)
    )
    // The voice thread has it.
    while engine.streams.statistics(of: stream) == nil {}
    server.stops.signal()
    server.isAsked.wait()
    engine.stop()
    server.goesOn.signal()
    server.isClosed.wait()
    #expect(!Self.isSignalled(sent.descriptor, within: 0), "the user has hung up")
  }
}
