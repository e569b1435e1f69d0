import Localization
import MediaCore
import SidetonePhone
import VoiceEngine

/// Parts of the mouth-to-ear delay in milliseconds, as far as a live call knows them.
///
/// The far side's microphone, packets and codec are taken to be like this side's; the network is
/// half of the round trip. Microphone and packet together are the packet's duration and the capture
/// processing; a capture period longer than that delays all but the fastest packets, and the jitter
/// buffer's delay includes it.
struct DelayStages: Equatable {
  /// A stage of the path from the far side's microphone to this side's loudspeaker.
  enum Stage: Int, CaseIterable {
    case microphone, packet, lookAhead, network, playout, loudspeaker

    /// Name of the stage, in the user's language.
    var name: String {
      switch self {
      case .microphone: String(localized: "microphone")
      case .packet: String(localized: "packet")
      case .lookAhead: String(localized: "codec")
      case .network: String(localized: "network")
      case .playout: String(localized: "jitter buffer")
      case .loudspeaker: String(localized: "loudspeaker")
      }
    }
  }

  private let milliseconds: [Double]

  /// Computes the delays from the figures of a call.
  init(_ statistics: CallStatistics) {
    self.init(statistics.stream, statistics.engine)
  }

  /// Computes the delays from the figures of a stream and of the devices.
  init(_ stream: StreamStatistics, _ engine: EngineStatistics) {
    let packet = SampleRate.voice.nanoseconds(of: stream.packetFrames)
    let period = min(engine.capturePeriodNanoseconds, packet)
    milliseconds = Stage.allCases.map { stage in
      let nanoseconds =
        switch stage {
        case .microphone: period + engine.captureProcessingNanoseconds
        case .packet: packet - period
        case .lookAhead: stream.lookAheadNanoseconds
        case .network: max(0, stream.roundTripNanoseconds) / 2
        case .playout: stream.playoutDelayNanoseconds
        case .loudspeaker: engine.playbackFillNanoseconds + engine.playbackProcessingNanoseconds
        }
      return max(0, Double(nanoseconds) / 1e6)
    }
  }

  /// Delay of a stage, in milliseconds.
  subscript(stage: Stage) -> Double { milliseconds[stage.rawValue] }

  /// Delay of all stages together, in milliseconds.
  var total: Double { milliseconds.reduce(0, +) }
}
