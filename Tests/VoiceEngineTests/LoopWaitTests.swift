import CLinux
import MediaCore
import RealTime
import Testing

@testable import VoiceEngine

struct LoopWaitTests {
  /// A headset whose descriptor is always ready, and whose microphone captures nothing.
  private struct RestlessHeadset: IdleDevice, ~Copyable {
    let signal: WakeEvent
    /// True if the last poll said that the descriptor is ready.
    var sawReady = false

    init() throws {
      signal = try WakeEvent()
      signal.signal()
    }

    mutating func pollDescriptors(_ all: inout FixedArray<pollfd>, from first: Int) -> Int {
      all[first] = pollfd(fd: signal.descriptor, events: Int16(POLLIN), revents: 0)
      return 1
    }
    @_noAllocation @_noLocks
    mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int) {
      sawReady = descriptors[first].revents != 0
    }
  }

  private let signals: LoopSignals
  init() throws { signals = try LoopSignals() }

  @Test func deviceThatIsAlwaysReadyAndMovesNothingIsAskedByTheClock() throws {
    var headset = try RestlessHeadset()
    var wait = LoopWait(signals)
    wait.follow(&headset)
    for _ in 0..<8 {
      let isResting = wait.isResting
      #expect(!isResting)
      _ = wait.sleep(hasCapture: true, limit: nil, &headset)
    }
    let isResting = wait.isResting
    #expect(isResting)
  }

  @Test func restingWaitSeesWhatTheDeviceHasAndWhatTheEngineSignals() throws {
    var headset = try RestlessHeadset()
    var wait = LoopWait(signals)
    wait.follow(&headset)
    for _ in 0..<8 { _ = wait.sleep(hasCapture: true, limit: nil, &headset) }

    var isSignalled = wait.sleep(hasCapture: true, limit: nil, &headset)
    var sawReady = headset.sawReady
    #expect(!isSignalled && sawReady)
    // What is not there is not passed on.
    headset.signal.acknowledge()
    _ = wait.sleep(hasCapture: true, limit: nil, &headset)
    sawReady = headset.sawReady
    #expect(!sawReady)
    signals.wakeUp.signal()
    isSignalled = wait.sleep(hasCapture: true, limit: nil, &headset)
    #expect(isSignalled)
  }

  @Test func deviceThatMovesFramesIsWaitedForAgain() throws {
    var headset = try RestlessHeadset()
    var wait = LoopWait(signals)
    wait.follow(&headset)
    for _ in 0..<20 {
      _ = wait.sleep(hasCapture: true, limit: nil, &headset)
      wait.noteMoved()
      let isResting = wait.isResting
      #expect(!isResting)
    }
  }

  @Test func signalsOfTheEngineAreNotTheDevicesFault() throws {
    var headset = try RestlessHeadset()
    headset.signal.acknowledge()
    signals.wakeUp.signal()
    var wait = LoopWait(signals)
    wait.follow(&headset)
    for _ in 0..<20 {
      let isSignalled = wait.sleep(hasCapture: true, limit: nil, &headset)
      #expect(isSignalled)
    }
    let isResting = wait.isResting
    #expect(!isResting)
  }
}
