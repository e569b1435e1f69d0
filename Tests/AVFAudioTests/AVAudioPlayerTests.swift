import ALSAAudio
@testable import AVFAudio
import Foundation
import MediaCore
import Testing

/// Sounds that an app plays beside its calls.
struct AVAudioPlayerTests {
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
