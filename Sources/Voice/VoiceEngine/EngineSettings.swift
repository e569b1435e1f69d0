package import SpeechDSP

/// How a voice engine runs, for as long as it runs.
package struct EngineSettings: Equatable, Sendable {
  /// What the engine is used for beside talking.
  package enum Measurement: Equatable, Sendable {
    /// Nothing.
    case off
    /// What is captured and played can be fetched with `takeMonitor`.
    case observe
    /// As `observe`; the loudspeaker sounds a chirp each second instead of the far side.
    case probe
  }

  /// What an engine times.
  package enum Trace: Equatable, Sendable {
    /// Nothing.
    case off
    /// Each packet in each stage.
    case stages
  }

  /// The filters between microphone and encoder.
  package var filters: SpeechFilterSettings
  /// What is measured.
  package var measurement: Measurement
  /// What is timed, for `takeStageTimes`.
  package var trace: Trace

  /// Settings without filters and measurements.
  package init(
    filters: SpeechFilterSettings = .init(),
    measurement: Measurement = .off,
    trace: Trace = .off
  ) {
    self.filters = filters
    self.measurement = measurement
    self.trace = trace
  }
}
