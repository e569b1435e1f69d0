import MediaCore
import RealTime

/// The loop's statistics on their way to the engine, ten times a second.
///
/// **Thread safety:** the voice thread's alone.
struct LoopReport: ~Copyable {
  private static var interval: Int64 { 100_000_000 }

  var statistics = EngineStatistics()
  private var inputPeak = PeakHold()
  private var reports: TripleBufferWriter<EngineStatistics>
  private var next: MonotonicInstant

  /// The first report is due at `begin`.
  init(_ reports: consuming TripleBufferWriter<EngineStatistics>, from begin: MonotonicInstant) {
    self.reports = reports
    next = begin
  }

  /// Notes frames of the microphone, and their peak.
  mutating func noteCaptured(_ frames: FrameCount, peak: Float) {
    inputPeak.note(peak)
    statistics.capturedFrames += Int64(frames)
  }

  /// True once for each report that is due.
  mutating func takeDue(at now: MonotonicInstant) -> Bool {
    guard now >= next else { return false }
    next = now.advanced(byNanoseconds: Self.interval)
    return true
  }

  /// Tells the engine how the loop stands.
  mutating func publish() {
    statistics.inputPeak = inputPeak.take(isRead: reports.isRead)
    reports.write(statistics)
  }
}
