import MediaCore
import RealTime
import Simulation
import Synchronization
import Testing
import VoiceEngine

struct DeviceStartTests {
  /// Number of devices that are open.
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
  private struct BrokenHeadset: IdleDevice, ~Copyable {
    let shelf: Shelf

    init(on shelf: Shelf) {
      self.shelf = shelf
      shelf.open.add(1, ordering: .relaxed)
    }

    deinit { shelf.open.subtract(1, ordering: .relaxed) }

    mutating func start(fill: FrameCount) throws(AudioDeviceError) {
      throw DeviceStartTests.refusal
    }
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
