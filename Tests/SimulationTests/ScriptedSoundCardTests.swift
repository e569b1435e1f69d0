import MediaCore
import RealTime
import Testing

@testable import Simulation

/// The scripted sound card itself, on which all simulated calls depend.
struct ScriptedSoundCardTests {
  private let time = VirtualTime()

  private func card(_ change: (inout ScriptedSoundCard.Script) -> Void = { _ in })
    -> ScriptedSoundCard
  {
    var script = ScriptedSoundCard.Script()
    change(&script)
    return ScriptedSoundCard(script, time: time)
  }

  private func pass(milliseconds: Double) {
    time.advance(to: time.now.advanced(byNanoseconds: Int64(milliseconds * 1e6)))
  }

  private func read(_ card: ScriptedSoundCard) -> (transfer: DeviceTransfer, samples: [Float]) {
    var block = SampleBuffer(repeating: -9, count: 4_800)
    let transfer = card.read(into: &block)
    return (transfer, (0..<transfer.frames).map { block[$0] })
  }

  @Test func microphoneGivesWholePeriodsOfItsSound() {
    let card = card { $0.sound = [1, 2, 3] }
    card.start(.both, fill: 0)
    #expect(read(card).samples == [])
    pass(milliseconds: 2.4)
    #expect(read(card).samples == [], "a period is 2.5 ms")
    pass(milliseconds: 0.2)
    let samples = read(card).samples
    #expect(samples.count == 120 && Array(samples.prefix(4)) == [1, 2, 3, 1])
    #expect(card.nextPeriod.map { $0 > time.now } == true)
  }

  @Test func crystalsAreAsFastAsTheScriptSays() {
    let card = card { $0.captureDrift = 1_000 }
    card.start(.both, fill: 0)
    var frames = 0
    for _ in 0..<1_000 {
      pass(milliseconds: 10)
      frames += read(card).transfer.frames
    }
    #expect(abs(frames - 480_480) <= 120, "a thousandth more in ten seconds")
  }

  @Test func microphoneThatIsNotReadOverflows() {
    let card = card()
    card.start(.both, fill: 0)
    pass(milliseconds: 200)
    let (transfer, samples) = read(card)
    #expect(samples.isEmpty && transfer.lost == 9_600)
    pass(milliseconds: 10)
    #expect(read(card).transfer.frames == 480, "and goes on from there")
  }

  @Test func loudspeakerSoundsWhatWasWrittenInTimeAndSilenceElse() {
    let card = card()
    card.start(.both, fill: 240)
    let block = SampleBuffer(repeating: 0.5, count: 480)
    #expect(card.queuedFrames == 240)
    let first = card.write(block, count: 480)
    #expect(first.frames == 480 && first.lost == 0 && card.queuedFrames == 720)
    pass(milliseconds: 20)
    #expect(card.queuedFrames == 0)
    let late = card.write(block, count: 480)
    #expect(late.lost == 240, "15 ms were queued, 20 have passed")
    #expect(card.heard.prefix(240).allSatisfy { $0 == 0 })
    #expect(card.heard[240..<720].allSatisfy { $0 == 0.5 })
    #expect(card.heard[720..<960].allSatisfy { $0 == 0 })
    #expect(card.heard[960..<1_440].allSatisfy { $0 == 0.5 })
  }

  @Test func loudspeakerTakesNoMoreThanItsBuffer() {
    let card = card()
    card.start(.both, fill: 0)
    let block = SampleBuffer(repeating: 1, count: 4_800)
    #expect(card.write(block, count: 4_800).frames == 4_800)
    #expect(card.write(block, count: 480).frames == 0)
  }

  @Test func serverTakesWholeBlocks() {
    let card = card { $0.takesBlocks = true }
    card.start(.both, fill: 480)
    #expect(card.queuedFrames == 480, "the first block is gone before that")
    pass(milliseconds: 2.6)
    #expect(card.queuedFrames == 360, "a whole period has gone at once")
    pass(milliseconds: 2)
    #expect(card.queuedFrames == 360, "and nothing more until the next")
  }

  @Test func suspendedCardStandsStillInBothDirections() {
    let card = card { $0.faults = [DeviceFault(.suspended, second: 0.01, milliseconds: 500)] }
    card.start(.both, fill: 960)
    pass(milliseconds: 10)
    #expect(read(card).transfer.frames == 480)
    let queued = card.queuedFrames
    pass(milliseconds: 400)
    #expect(read(card).transfer.frames == 0 && card.queuedFrames == queued)
    pass(milliseconds: 110)
    #expect(read(card).transfer.frames == 480, "only what came after the suspension")
  }

  @Test func starvedServerMakesUpForOneCycle() {
    let card = card {
      $0.takesBlocks = true
      $0.faults = [DeviceFault(.starved, second: 0.011, milliseconds: 12)]
    }
    card.start(.both, fill: 960)
    pass(milliseconds: 11)
    #expect(read(card).transfer.frames == 480 && card.queuedFrames == 480)
    pass(milliseconds: 11)
    #expect(read(card).transfer.frames == 0 && card.queuedFrames == 480)
    pass(milliseconds: 1)
    #expect(read(card).transfer.frames == 240 && card.queuedFrames == 240, "two cycles at once")
    let next = card.nextPeriod?.nanoseconds(since: time.now)
    #expect(next == 2_500_000, "and the next one a period after these")
  }

  @Test func unpluggedSideIsGoneUntilItIsOpenedAgain() {
    let card = card {
      $0.faults = [DeviceFault(.unplugged, second: 1, milliseconds: 500, sides: .capture)]
    }
    card.start(.both, fill: 0)
    pass(milliseconds: 1_100)
    #expect(read(card).transfer.isGone && card.goneSides == .capture)
    #expect(card.nextPeriod == nil, "nothing will come from it")
    let block = SampleBuffer(repeating: 0, count: 120)
    #expect(!card.write(block, count: 120).isGone, "the loudspeaker is still there")
    pass(milliseconds: 500)
    #expect(card.absentSides == [] && read(card).transfer.isGone, "plugged in, but not opened")
    card.start(.capture, fill: 0)
    pass(milliseconds: 10)
    #expect(read(card).transfer.frames == 480)
  }
}
