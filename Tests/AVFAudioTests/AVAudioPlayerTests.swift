import ALSAAudio
@testable import AVFAudio
import Foundation
import MediaCore
import Testing

/// Sounds that an app plays beside its calls.
struct AVAudioPlayerTests {
  private static let rate = SampleRate(hertz: 8_000)

  /// A delegate that passes on how sounds end.
  private final class Listener: NSObject, AVAudioPlayerDelegate {
    let (ends, continuation) = AsyncStream<Bool>.makeStream()

    func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {
      continuation.yield(flag)
    }

    func next() async -> Bool? { await ends.first { _ in true } }
  }

  private func bytes(_ samples: [Float], hertz: Int = 8_000) -> Data {
    Data(WaveFile.header(rateHertz: hertz, sampleCount: samples.count) + WaveFile.encode(samples))
  }

  private func play(_ head: inout PlayerHead, _ count: Int) -> [Float] {
    var block = SampleBuffer(repeating: 0, count: count)
    let filled = head.fill(&block, count: count, at: Self.rate)
    return (0..<filled).map { block[$0] }
  }

  // MARK: The place in the sound

  @Test func soundIsPlayedAtItsOwnRateAndEnds() {
    var head = PlayerHead(SoundFile(rateHertz: 4_000, samples: [0, 1, 0.5]))
    #expect(play(&head, 4) == [0, 0.5, 1, 0.75])
    #expect(play(&head, 9) == [0.5, 0.5] && head.isAtEnd)
    #expect(play(&head, 3) == [])
    head.rewind()
    #expect(!head.isAtEnd && play(&head, 2) == [0, 0.5])
    var nothing = PlayerHead(SoundFile(rateHertz: 8_000, samples: []))
    nothing.loops = -1
    #expect(play(&nothing, 3) == [])
  }

  @Test func repetitionsAreCounted() {
    var head = PlayerHead(SoundFile(rateHertz: 8_000, samples: [1, 0]))
    head.loops = 2
    #expect(play(&head, 9) == [1, 0, 1, 0, 1, 0])
    head.rewind()
    head.loops = -1
    #expect(play(&head, 7) == [1, 0, 1, 0, 1, 0, 1] && !head.isAtEnd)
  }

  @Test func volumeFadesEvenlyAndStaysWithinItsRange() {
    var head = PlayerHead(SoundFile(rateHertz: 8_000, samples: [1]))
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
    var head = PlayerHead(SoundFile(rateHertz: 8_000, samples: [1, 1]))
    head.waitSeconds = 2.0 / 8_000
    #expect(play(&head, 9) == [0, 0, 1, 1])
  }

  // MARK: Playing

  private let session = AVAudioSession(bus: nil, arbitratesAll: false)

  /// Runs `body` with a player of `samples` whose loudspeaker is a file.
  private func withPlayer(
    _ samples: [Float],
    _ body: (AVAudioPlayer, Listener, URL) async throws -> Void
  ) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).wav")
    session.devices = .init(capture: .null, playback: .file(file.path))
    defer { try? FileManager.default.removeItem(at: file) }
    let player = try AVAudioPlayer(bytes(samples, hertz: 48_000), session: session)
    let listener = Listener()
    player.delegate = listener
    try await body(player, listener, file)
  }

  private func samples(of file: URL) throws -> [Float] {
    try SoundFile(parsing: Array(Data(contentsOf: file))).samples
  }

  @Test func soundIsHeardAsAWholeAndTheDelegateTold() async throws {
    let tone = [Float](repeating: 0.5, count: 9_600)
    try await withPlayer(tone) { player, listener, file in
      #expect(player.duration == 0.2 && !player.isPlaying && player.numberOfChannels == 1)
      player.numberOfLoops = 1
      #expect(player.prepareToPlay() && player.play() && player.isPlaying)
      #expect(await listener.next() == true)
      #expect(!player.isPlaying && player.currentTime == 0)
      let heard = try samples(of: file)
      #expect(heard.count { abs($0 - 0.5) < 0.01 } == 2 * tone.count)
    }
  }

  @Test func pausedSoundGoesOnWhereItWas() async throws {
    try await withPlayer([Float](repeating: 0.5, count: 48_000)) { player, listener, _ in
      player.currentTime = 0.5
      player.play()
      player.pause()
      #expect(!player.isPlaying && player.currentTime >= 0.5)
      player.currentTime = 0.95
      player.play()
      #expect(await listener.next() == true)
      player.currentTime = 7
      #expect(player.currentTime == 1)
      player.currentTime = .nan
      #expect(player.currentTime == 0)
    }
  }

  @Test func deviceThatCannotBeOpenedIsAnEndWithoutSuccess() async throws {
    try await withPlayer([0.5]) { player, listener, _ in
      session.devices = .init(capture: .null, playback: .pcm("no such"))
      #expect(player.play())
      #expect(await listener.next() == false)
      #expect(!player.isPlaying)
    }
  }

  @Test func interruptionPausesThePlayer() async throws {
    try await withPlayer([Float](repeating: 0.5, count: 480_000)) { player, _, _ in
      player.play()
      NotificationCenter.default.post(
        name: AVAudioSession.interruptionNotification,
        object: session,
        userInfo: [
          AVAudioSessionInterruptionTypeKey: AVAudioSession.InterruptionType.began.rawValue
        ]
      )
      #expect(!player.isPlaying)
    }
  }

  @Test func filesThatAreNoSoundAreErrors() throws {
    #expect(throws: (any Error).self) {
      try AVAudioPlayer(contentsOf: URL(fileURLWithPath: "/nonexistent.wav"))
    }
    do {
      _ = try AVAudioPlayer(data: Data("no sound".utf8), fileTypeHint: nil)
      Issue.record("text was taken for a sound")
    } catch {
      let error = error as NSError
      #expect(error.domain == NSOSStatusErrorDomain && error.code == 1_954_115_647)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).wav")
    try bytes([0, 0.5]).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let player = try AVAudioPlayer(contentsOf: file)
    #expect(player.url == file && player.data == nil && player.volume == 1)
    #expect(player.deviceCurrentTime > 0 && player.numberOfLoops == 0)
  }
}
