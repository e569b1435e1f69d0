import MediaCore
import DeviceTiming
import RealTime

/// Errand of the loop between two periods of its microphone.
struct DeferredWrite {
  enum Kind {
    /// Write the frames that the loudspeaker wants.
    case write
    /// Look whether the loudspeaker has taken any frames since it was written to.
    case look
  }

  var kind: Kind
  var time: MonotonicInstant
}

/// Time of the write to the loudspeaker: at once, or as late in its cycle as is safe
/// (`PlaybackLevel`).
extension VoiceLoop where Device: ~Copyable, Transport: ~Copyable {
  /// Shortest wait that is worth a wake-up, in nanoseconds.
  private static var shortestWait: Int64 { 100_000 }

  /// Time at which the loop continues even if neither the device nor the engine wakes it; nil if it
  /// may sleep on.
  ///
  /// It is the time of the planned errand, or a quarter of a period after a cycle was due that has
  /// not come: a look at the loudspeaker then distinguishes a late server from a late program.
  var nextTurn: MonotonicInstant? {
    if let errand { return errand.time }
    guard device.isOneDevice, loudspeaker.level.followsCycles, gone.isEmpty else { return nil }
    let period = device.captureRate.nanoseconds(of: device.capturePeriod)
    let look = microphone.lastRead.advanced(byNanoseconds: period / 4 * 5)
    return look > time.now ? look : nil
  }

  /// Plays now, or plans to, at the end of a turn that began at `begin`.
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
    if more != 0 { streams.forEach { $0.stream.noteWaits(.shorter(by: more)) } }
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

  /// Clears the planned errand and performs it: a write to the loudspeaker, or a look at its queue.
  func perform(_ errand: DeferredWrite) {
    self.errand = nil
    switch errand.kind {
    case .write: receiveAndPlay()
    case .look: loudspeaker.level.look(queued: device.queuedFrames())
    }
  }
}
