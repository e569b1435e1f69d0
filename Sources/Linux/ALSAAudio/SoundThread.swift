import Foundation
package import MediaCore
import RealTime
import Synchronization

/// Sound that is made while it is played.
package protocol SoundSource {
  /// Writes the next frames at `rate` to the first `count` of `block` and returns their number,
  /// which is less at the end.
  mutating func fill(
    _ block: inout SampleBuffer,
    count: FrameCount,
    at rate: SampleRate
  ) -> FrameCount
}

/// Plays a sound on a device of its own, on a thread of its own.
///
/// **Life cycle:** plays from the initialiser to the sound's end or `stop`. **Thread safety:** any
/// thread.
package final class SoundThread: Sendable {
  /// The end of a sound.
  package enum End: Equatable, Sendable {
    /// All of it was played.
    case finished
    /// `stop` came first.
    case stopped
    /// The device could not be opened, or has gone.
    case failed
  }

  private static let fillNanoseconds: Int64 = 60_000_000
  private static let pauseSeconds = 0.01
  private let isStopped = Atomic<Bool>(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Plays what `makeSource` returns, and calls `whenEnded` after the device is released; both run
  /// on the sound's thread.
  package init<Source: SoundSource & SendableMetatype>(
    on device: DeviceName,
    _ makeSource: @escaping @Sendable () -> Source,
    whenEnded: @escaping @Sendable (End) -> Void = { _ in }
  ) {
    Thread.detachNewThread { [self] in
      let end = run(on: device, makeSource())
      hasEnded.signal()
      whenEnded(end)
    }
  }

  /// Stops the sound, and returns once the device is released, but at most half a second later.
  ///
  /// A sound server that hangs may block the thread for long, and a call cannot wait for it.
  package func stop() {
    cancel()
    // A call waits for a device that is not released, as for one that another program has.
    _ = hasEnded.wait(timeout: .now() + .milliseconds(500))
  }

  /// Stops the sound, and returns at once.
  package func cancel() { isStopped.store(true, ordering: .releasing) }

  private var end: End? { isStopped.load(ordering: .acquiring) ? .stopped : nil }

  private func run(on device: DeviceName, _ source: some SoundSource) -> End {
    do {
      var headset = try Headset(capture: .null, playback: device)
      if let end { return end }
      try headset.start(fill: 0)
      return play(source, on: &headset)
    } catch {
      return end ?? .failed
    }
  }

  private func play(_ source: some SoundSource, on headset: inout Headset) -> End {
    var source = source
    let rate = headset.playbackRate
    let fill = rate.frames(inNanoseconds: Self.fillNanoseconds)
    var block = SampleBuffer(repeating: 0, count: fill)
    // Silence, after the sound, that is heard once the sound has been.
    var silence = 0
    while true {
      if let end { return end }
      let count = max(0, fill - headset.queuedFrames())
      if count > 0 {
        // A player may be set back meanwhile, and go on.
        let filled = source.fill(&block, count: count, at: rate)
        for index in filled..<count { block[index] = 0 }
        silence = (filled > 0 ? 0 : silence) + count - filled
        if headset.write(block, count: count).isGone { return .failed }
        if silence > fill { return .finished }
      }
      Thread.sleep(forTimeInterval: Self.pauseSeconds)
    }
  }
}
