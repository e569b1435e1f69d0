import CLinux
import MediaCore
import RealTime
import Simulation
import Synchronization
import Testing
import VoiceEngine

struct DeviceStartTests {
  /// How many devices are open.
  private final class Shelf: Sendable {
    let open = Atomic<Int>(0)
  }

  private static let refusal = AudioDeviceError(
    kind: .busy,
    device: "broken",
    operation: "start",
    reason: "it is being repaired"
  )

  /// A headset that is there and cannot be started.
  private struct BrokenHeadset: AudioDevice, ~Copyable {
    let shelf: Shelf

    init(on shelf: Shelf) {
      self.shelf = shelf
      shelf.open.add(1, ordering: .relaxed)
    }

    deinit { shelf.open.subtract(1, ordering: .relaxed) }

    var captureRate: SampleRate { .voice }
    var playbackRate: SampleRate { .voice }
    var capturePeriod: FrameCount { 240 }
    var playbackPeriod: FrameCount { 240 }
    var playbackCapacity: FrameCount { 4_800 }
    var isOneDevice: Bool { false }

    mutating func start(fill: FrameCount) throws(AudioDeviceError) {
      throw DeviceStartTests.refusal
    }
    mutating func pollDescriptors(_ all: inout FixedArray<pollfd>, from first: Int) -> Int { 0 }
    @_noAllocation @_noLocks
    mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {}
    @_noAllocation @_noLocks
    mutating func read(into block: inout SampleBuffer) -> DeviceTransfer { .init(frames: 0) }
    @_noAllocation @_noLocks
    mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
      .init(frames: count)
    }
    @_noAllocation @_noLocks
    mutating func queuedFrames() -> FrameCount { 0 }
    @_noAllocation @_noLocks
    mutating func playbackDelayFrames() -> FrameCount { 0 }
    @_noAllocation @_noLocks
    mutating func pendingFrames() -> FrameCount { 0 }
    mutating func exchange(_ sides: StreamDirections, with other: inout Self) {}
  }

  @Test func deviceThatDoesNotStartIsSaidToWhoeverMakesTheEngineAndClosed() {
    let shelf = Shelf()
    for _ in 0..<3 {
      #expect(throws: Self.refusal) {
        try VoiceEngine<BrokenHeadset, SimulatedTransport>(
          device: BrokenHeadset(on: shelf),
          settings: EngineSettings()
        )
      }
      #expect(shelf.open.load(ordering: .relaxed) == 0)
    }
  }
}
