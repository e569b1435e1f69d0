import Testing

@testable import ALSAAudio

struct VoiceChannelTests {
  private static func chosen(_ blocks: [[Float]]) -> Int {
    var channel = VoiceChannel(of: blocks[0].count)
    for levels in blocks {
      for (index, level) in levels.enumerated() { channel.note(-level, on: index) }
      channel.choose(after: 10_000_000)
    }
    return channel.chosen
  }

  @Test func firstChannelIsHeardUnlessAnotherIsMuchLouder() {
    #expect(Self.chosen([[0, 0]]) == 0)
    #expect(Self.chosen([[0.3, 0.3]]) == 0)
    #expect(Self.chosen([[0.3, 0.5]]) == 0)
    #expect(Self.chosen([[0.001, 0.5]]) == 1)
    #expect(Self.chosen([[0, 0, 0, 0.2]]) == 3)
    #expect(Self.chosen([[0, 0.0005]]) == 0)
  }

  @Test func aBlowDoesNotTakeTheVoiceAwayForGood() {
    let speech = [[Float]](repeating: [0.2, 0.01], count: 1_000)
    #expect(Self.chosen([[0, 1]] + speech) == 0)
    #expect(Self.chosen(speech + [[0.2, 0.35]]) == 0)
  }

  @Test func aMicrophoneMayMoveToAnotherInput() {
    let first = [[Float]](repeating: [0.2, 0], count: 100)
    let second = [[Float]](repeating: [0, 0.2], count: 300)
    #expect(Self.chosen(first + second) == 1)
  }
}
