import MediaCore
import DeviceTiming
import RealTime

/// What the loop has to do between two periods of its microphone.
struct DeferredWrite {
  enum Kind {
    /// Give the loudspeaker what it wants.
    case write
    /// See whether the loudspeaker has taken anything since it was written to.
    case look
  }

  var kind: Kind
  var time: MonotonicInstant
}

/// When the loudspeaker is written to: at once, or as late in its cycle as is safe
/// (`PlaybackLevel`).
extension VoiceLoop where Device: ~Copyable, Transport: ~Copyable {
  /// A wait that is shorter is not worth a wake-up.
  private static var shortestWait: Int64 { 100_000 }

  /// When the loop goes on though neither the device nor the engine has woken it, nil where it may
  /// sleep on.
  ///
  /// That is when something was planned, or a quarter of a period after a cycle was due that has
  /// not come: a look at the loudspeaker then tells a late server from a late program.
  var nextTurn: MonotonicInstant? {
    if let errand { return errand.time }
    guard device.isOneDevice, loudspeaker.level.followsCycles, gone.isEmpty else { return nil }
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    let look = microphone.lastRead.advanced(byNanoseconds: period / 4 * 5)
    return look > time.now ? look : nil
  }

  /// Plays now or plans to, at the end of a turn that began at `begin`.
  func playInTime(sinceTurnAt begin: MonotonicInstant) {
    let isNewPeriod = microphone.lastRead >= begin
    if !isNewPeriod, case .write = errand?.kind { return }
    // A new period while the last one has not been written: no more waiting.
    let isBehind = errand != nil
    errand = nil
    guard isNewPeriod, device.isOneDevice, loudspeaker.level.followsCycles, gone.isEmpty else {
      return receiveAndPlay()
    }
    let before = loudspeaker.level.plannedPostponement
    let due = loudspeaker.level.timeToWrite(queued: device.queuedFrames(), at: microphone.lastRead)
    loudspeaker.isCatchingUp = loudspeaker.level.isCatchingUp
    let more = loudspeaker.level.plannedPostponement - before
    // What lay until now will lie shorter, or longer.
    if more != 0 { streams.forEach { $0.stream.noteShorterWaits(by: more) } }
    if !isBehind || loudspeaker.isCatchingUp,
      due.nanoseconds(since: time.now) > Self.shortestWait
    {
      errand = DeferredWrite(kind: .write, time: due)
      return
    }
    receiveAndPlay()
    guard let look = loudspeaker.level.timeToLook(at: microphone.lastRead) else { return }
    errand = DeferredWrite(kind: .look, time: look)
  }

  /// Does what was planned.
  func perform(_ errand: DeferredWrite) {
    self.errand = nil
    switch errand.kind {
    case .write: receiveAndPlay()
    case .look: loudspeaker.level.look(queued: device.queuedFrames())
    }
  }
}
