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

  /// A headset of a sound server's longest cycles.
  private struct SlowHeadset: IdleDevice, ~Copyable {
    var playbackPeriod: FrameCount { 4_096 }
  }

  /// A turn in mid-period would end the measured wait of the packets, which are played at its end.
  @Test func longPeriodIsWaitedForAsAWhole() {
    var headset = SlowHeadset()
    var wait = LoopWait(signals)
    wait.follow(&headset)
    let waits = (wait.withCapture, wait.withoutCapture)
    let period = SampleRate.voice.nanoseconds(of: 4_096)
    #expect(waits.0 == period * 5 / 4 && waits.1 == period)
  }

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
