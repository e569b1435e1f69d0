import Foundation
import SidetonePhone
import Testing

@testable import CommandLine
@testable import VoiceEngine
@testable import VoiceStream

struct DelayStagesTests {
  private func stages(
    _ change: (inout StreamStatistics, inout EngineStatistics) -> Void
  ) -> DelayStages {
    DelayStages(CallStatistics.example(of: UUID(), change))
  }

  @Test func eachStageIsItsOwnFigure() {
    let stages = stages { stream, engine in
      engine.capturePeriodNanoseconds = 2_500_000
      stream.packetFrames = 240
      stream.lookAheadNanoseconds = 2_500_000
      stream.roundTripNanoseconds = 30_000_000
      stream.playoutDelayNanoseconds = 4_000_000
      engine.playbackFillNanoseconds = 3_000_000
    }
    #expect(stages[.microphone] == 2.5 && stages[.packet] == 2.5 && stages[.lookAhead] == 2.5)
    #expect(stages[.network] == 15, "half of the way there and back")
    #expect(stages[.playout] == 4 && stages[.loudspeaker] == 3)
    #expect(stages.total == 29.5)
  }

  @Test func periodLongerThanAPacketDelaysNoFastestPacket() {
    let stages = stages { stream, engine in
      engine.capturePeriodNanoseconds = 10_000_000
      stream.packetFrames = 120
    }
    #expect(stages[.microphone] == 2.5 && stages[.packet] == 0)
  }

  @Test func conversionAndFiltersBelongToTheDevices() {
    let stages = stages { stream, engine in
      stream.packetFrames = 120
      engine.capturePeriodNanoseconds = 2_500_000
      engine.captureProcessingNanoseconds = 6_000_000
      engine.playbackFillNanoseconds = 3_000_000
      engine.playbackProcessingNanoseconds = 1_000_000
    }
    #expect(stages[.microphone] == 8.5 && stages[.loudspeaker] == 4)
  }

  @Test func whatIsNotKnownTakesNoTime() {
    let stages = stages { stream, engine in
      stream.packetFrames = 0
      stream.roundTripNanoseconds = -1
      engine.playbackFillNanoseconds = -5
    }
    #expect(stages[.network] == 0 && stages[.loudspeaker] == 0 && stages.total >= 0)
  }

  @Test func everyStageHasAName() {
    let names = DelayStages.Stage.allCases.map(\.name)
    #expect(Set(names).count == names.count && !names.contains(""))
  }
}
