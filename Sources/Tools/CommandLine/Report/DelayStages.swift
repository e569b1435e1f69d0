import Localization
import SidetonePhone
import VoiceEngine

/// Parts of the mouth-to-ear delay in milliseconds, as far as a live call knows them.
///
/// The far side's microphone, packets and codec are taken to be like this side's; the network is
/// half of the round trip.
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
    let (stream, engine) = (statistics.stream, statistics.engine)
    let packet = Double(stream.packetFrames) / 48
    milliseconds = Stage.allCases.map { stage in
      let nanoseconds =
        switch stage {
        case .microphone:
          engine.capturePeriodNanoseconds + engine.captureProcessingNanoseconds
        case .packet: Int64(packet * 1e6)
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
