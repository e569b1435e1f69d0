package import SpeechDSP

/// Settings of a voice engine, fixed for its lifetime.
package struct EngineSettings: Equatable, Sendable {
  /// Measurements that an engine makes.
  package enum Measurement: Equatable, Sendable {
    /// No measurement.
    case off
    /// Captured and played samples can be fetched with `takeMonitor`.
    case observe
    /// As `observe`; the loudspeaker also plays a chirp each second instead of the far side.
    case probe
  }

  /// Timing of packets by an engine.
  package enum Trace: Equatable, Sendable {
    /// No timing.
    case off
    /// Time of each packet in each stage.
    case stages
  }

  /// Filters between microphone and encoder.
  package var filters: SpeechFilterSettings
  /// Measurement to make.
  package var measurement: Measurement
  /// Times to record, for `takeStageTimes`.
  package var trace: Trace

  /// Creates settings, by default without filters and measurements.
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
