@testable import ALSAAudio
import MediaCore
import Testing

struct SoundHeadTests {
  private static let rate = SampleRate(hertz: 8_000)

  private func play(_ head: inout SoundHead, _ count: Int) -> [Float] {
    var block = SampleBuffer(repeating: 0, count: count)
    let filled = head.fill(&block, count: count, at: Self.rate)
    return (0..<filled).map { block[$0] }
  }

  @Test func soundIsPlayedAtItsOwnRateAndEnds() {
    var head = SoundHead(SoundFile(rateHertz: 4_000, samples: [0, 1, 0.5]))
    #expect(play(&head, 4) == [0, 0.5, 1, 0.75])
    #expect(play(&head, 9) == [0.5, 0.5] && head.isAtEnd)
    #expect(play(&head, 3) == [])
    head.rewind()
    #expect(!head.isAtEnd && play(&head, 2) == [0, 0.5])
    var nothing = SoundHead(SoundFile(rateHertz: 8_000, samples: []))
    nothing.loops = -1
    #expect(play(&nothing, 3) == [])
  }

  @Test func repetitionsAreCounted() {
    var head = SoundHead(SoundFile(rateHertz: 8_000, samples: [1, 0]))
    head.loops = 2
    #expect(play(&head, 9) == [1, 0, 1, 0, 1, 0])
    head.rewind()
    head.loops = -1
    #expect(play(&head, 7) == [1, 0, 1, 0, 1, 0, 1] && !head.isAtEnd)
  }

  @Test func volumeFadesEvenlyAndStaysWithinItsRange() {
    var head = SoundHead(SoundFile(rateHertz: 8_000, samples: [1]))
    head.loops = -1
    head.setVolume(0.5, fadeSeconds: 0)
    #expect(play(&head, 2) == [0.5, 0.5])
    head.setVolume(0, fadeSeconds: 4.0 / 8_000)
    let faded = play(&head, 6)
    for (sample, expected) in zip(faded, [0.5, 0.375, 0.25, 0.125, 0, 0]) {
      #expect(abs(sample - Float(expected)) < 0.001)
    }
    head.setVolume(7, fadeSeconds: -1)
    #expect(head.volume == 1)
    head.setVolume(.nan, fadeSeconds: 0)
    #expect(head.volume == 1)
  }

  @Test func silenceComesBeforeASoundThatWaits() {
    var head = SoundHead(SoundFile(rateHertz: 8_000, samples: [1, 1]))
    head.waitSeconds = 2.0 / 8_000
    #expect(play(&head, 9) == [0, 0, 1, 1])
  }

  @Test func timeStaysWithinTheSound() {
    var head = SoundHead(SoundFile(rateHertz: 1_000, samples: [0, 1, 0, 1]))
    for (time, expected) in [(0.002, 0.002), (7, 0.004), (-1, 0), (.nan, 0)] {
      head.time = time
      #expect(abs(head.time - expected) < 1e-9)
    }
    #expect(head.duration == 0.004)
    // Seconds times rate may be a little less than the length.
    var end = SoundHead(SoundFile(rateHertz: 44_100, samples: Array(repeating: 1, count: 15)))
    end.time = 7
    #expect(end.isAtEnd)
  }
}
