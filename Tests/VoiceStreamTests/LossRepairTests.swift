import MediaCore
import Playout
import Testing

@testable import VoiceStream

/// One loss from its first concealed frame to its repair.
struct LossRepairTests {
  @Test func framesCountForTheLossUntilSomethingIsDecodedAfterIt() {
    var repair = LossRepair()
    repair.noteDecoded(480)
    #expect(!repair.isOpen && repair.decodedAfter == 0)
    repair.noteConcealed(240)
    repair.noteConcealed(240)
    #expect(repair.isOpen && repair.concealed == 480)
    repair.noteDecoded(480)
    // A second gap behind the first one lies on its far side.
    repair.noteConcealed(120)
    #expect(repair.concealed == 480 && repair.decodedAfter == 600)
    repair.close()
    #expect(!repair.isOpen && repair.decodedAfter == 0)
  }

  @Test func onlyTheFirstFramesAfterTheLossConverge() {
    var repair = LossRepair()
    repair.noteConcealed(480)
    repair.noteConverging(300)
    repair.noteDecoded(480)
    repair.noteConverging(0)
    #expect(repair.converging == 300)
  }

  @Test func theDecoderPassesOverAnUndecodablePacketOnce() {
    var repair = LossRepair()
    repair.noteUndecodable(960)
    let first = repair.takeUndecodable()
    let second = repair.takeUndecodable()
    #expect(first == 960 && second == 0)
  }

  @Test func aPacketFadesInOverWhatWentOnWithoutIt() {
    var repair = LossRepair()
    let before = SampleBuffer(repeating: 1, count: 120)
    repair.setContinuation(before, count: 120)
    var sound = SampleBuffer(repeating: 0, count: 480)
    let overlap = repair.fadeIn(&sound, count: 480)
    #expect(overlap == 120 && !repair.hasContinuation)
    // From the old sound to the new one, without a jump on either side.
    #expect(sound[0] == 1 && sound[60] == 0.5 && sound[119] < 0.01 && sound[120] == 0)
    let again = repair.fadeIn(&sound, count: 480)
    #expect(again == 0)
  }

  @Test func anotherSourceInheritsNothing() {
    var repair = LossRepair()
    let sound = SampleBuffer(repeating: 1, count: 120)
    repair.setContinuation(sound, count: 120)
    repair.noteUndecodable(960)
    repair.restart()
    let undecodable = repair.takeUndecodable()
    #expect(repair.isFaded && !repair.hasContinuation && undecodable == 0)
  }
}
