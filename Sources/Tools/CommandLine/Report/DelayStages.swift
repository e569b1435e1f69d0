import Localization
import SidetonePhone
import VoiceEngine

/// Where the milliseconds from the far side's mouth to this side's ear go, as far as a live call
/// knows.
///
/// The far side's microphone, packets and codec are taken to be like this side's; the network is
/// half of the round trip.
struct DelayStages: Equatable {
  /// A part of the way.
  enum Stage: Int, CaseIterable {
    case microphone, packet, lookAhead, network, playout, loudspeaker

    /// For people, in their language.
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

  /// What the figures of a call say.
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

  /// Milliseconds of a stage.
  subscript(stage: Stage) -> Double { milliseconds[stage.rawValue] }

  /// Milliseconds of all stages.
  var total: Double { milliseconds.reduce(0, +) }
}
