import CLinux
import MediaCore
import RealTime
import Simulation
import Synchronization
import Testing
import VoiceEngine

/// A voice thread that a device keeps, whose sound server has stopped.
struct HangingDeviceTests {
  private final class Server: Sendable {
    let isAsked: WakeEvent
    let goesOn: WakeEvent
    let isClosed: WakeEvent

    init() throws {
      isAsked = try WakeEvent()
      goesOn = try WakeEvent()
      isClosed = try WakeEvent()
    }
  }

  /// A headset whose microphone does not answer until the server goes on.
  private struct HangingHeadset: IdleDevice, ~Copyable {
    let server: Server
    /// Those of the events: the voice thread counts no references.
    private let isAsked: CInt
    private let goesOn: CInt

    init(of server: Server) {
      self.server = server
      isAsked = server.isAsked.descriptor
      goesOn = server.goesOn.descriptor
    }

    deinit { server.isClosed.signal() }

    @_noAllocation @_noLocks
    mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
      realtime_event_signal(isAsked)
      var waited = pollfd(fd: goesOn, events: Int16(POLLIN), revents: 0)
      _ = unsafe realtime_poll(&waited, 1, -1)
      return DeviceTransfer(frames: 0)
    }
  }

  @Test func engineEndsAndReleasesAllOnceTheDeviceAnswers() throws {
    let server = try Server()
    let engine = try VoiceEngine<HangingHeadset, SimulatedTransport>(
      device: HangingHeadset(of: server),
      settings: EngineSettings()
    )
    server.isAsked.wait()
    engine.stop()
    #expect(engine.scheduling == .pending, "it has been given up")
    server.goesOn.signal()
    server.isClosed.wait()
  }
}
