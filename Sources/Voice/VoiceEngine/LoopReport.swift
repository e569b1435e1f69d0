import MediaCore
import RealTime

/// Report of the loop's statistics to the engine, ten times a second.
///
/// **Thread safety:** the voice thread only.
struct LoopReport: ~Copyable {
  private static var interval: Int64 { 100_000_000 }

  var statistics = EngineStatistics()
  private var inputPeak = PeakHold()
  private var reports: TripleBufferWriter<EngineStatistics>
  private var next: MonotonicInstant

  /// Creates a report that is first due at `begin`.
  init(_ reports: consuming TripleBufferWriter<EngineStatistics>, from begin: MonotonicInstant) {
    self.reports = reports
    next = begin
  }

  /// Counts frames of the microphone, and notes their peak.
  mutating func noteCaptured(_ frames: FrameCount, peak: Float) {
    inputPeak.note(peak)
    statistics.capturedFrames += Int64(frames)
  }

  /// Returns true once for each report that is due.
  mutating func takeDue(at now: MonotonicInstant) -> Bool {
    guard now >= next else { return false }
    next = now.advanced(byNanoseconds: Self.interval)
    return true
  }

  /// Publishes the statistics to the engine.
  mutating func publish() {
    statistics.inputPeak = inputPeak.take(isRead: reports.isRead)
    reports.write(statistics)
  }
}
