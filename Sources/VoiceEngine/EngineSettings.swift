public import SpeechDSP

/// How a voice engine runs, for as long as it runs.
public struct EngineSettings: Equatable, Sendable {
  /// What the engine is used for beside talking.
  public enum Measurement: Equatable, Sendable {
    /// Nothing.
    case off
    /// What is captured and played can be fetched with `takeMonitor`.
    case observe
    /// As `observe`; the loudspeaker sounds a chirp each second instead of the far side.
    case probe
  }

  /// The filters between microphone and encoder.
  public var filters: SpeechFilterSettings
  /// What is measured.
  public var measurement: Measurement
  /// Whether packets are timed in each stage, for `takeStageTimes`.
  public var tracesStages: Bool

  /// Settings without filters and measurements.
  public init(
    filters: SpeechFilterSettings = .init(),
    measurement: Measurement = .off,
    tracesStages: Bool = false
  ) {
    self.filters = filters
    self.measurement = measurement
    self.tracesStages = tracesStages
  }
}
