import ALSAAudio
public import Foundation
import MediaCore
import RealTime

/// Plays a sound, such as a ringback tone, on the session's playback device.
///
/// Opens the device for itself while it plays: during a call this takes a sound server, which
/// shares the device. Several channels are mixed to mono.
///
/// **Thread safety:** any thread; `pause` and `stop` wait for the device's release, half a second
/// at most. The delegate is called on the main queue.
// SAFETY: all mutable state is guarded by `lock`.
open class AVAudioPlayer: NSObject, @unchecked Sendable {
  /// `kAudioFileUnsupportedFileTypeError`, "typ?".
  private static let unsupportedType = 1_954_115_647
  /// Most samples of a sound, 23 minutes at 48 kHz.
  private static let mostSamples = 1 << 26

  private let session: AVAudioSession
  private let lock = NSLock()
  private var head: SoundHead
  private var thread: SoundThread?
  /// Number of the current playback, so that the end of an earlier one is ignored.
  private var playing = 0
  private weak var listener: (any AVAudioPlayerDelegate)?
  private var interruptions: (any NSObjectProtocol)?

  /// The file that was read; nil for a player of data.
  public let url: URL?
  /// The bytes that were given; nil for a player of a file.
  public let data: Data?

  /// Creates a player of an empty sound.
  public override init() {
    head = SoundHead(SoundFile(rateHertz: 48_000, samples: []))
    (url, data, session) = (nil, nil, .sharedInstance())
    super.init()
  }

  /// Creates a player of a sound file in any format of libsndfile: WAV, CAF, AIFF, FLAC, Ogg and
  /// others.
  ///
  /// Throws the error of reading the file, or an `NSOSStatusErrorDomain` error if it holds no
  /// sound.
  public convenience init(contentsOf url: URL) throws {
    try self.init(Data(contentsOf: url), url: url)
  }

  /// Creates a player of a sound file; `utiString` is ignored.
  public convenience init(contentsOf url: URL, fileTypeHint utiString: String?) throws {
    try self.init(contentsOf: url)
  }

  /// Creates a player of the bytes of a sound file.
  ///
  /// Throws as `init(contentsOf:)` does.
  public convenience init(data: Data) throws {
    try self.init(data, data: data)
  }

  /// Creates a player of the bytes of a sound file; `utiString` is ignored.
  public convenience init(data: Data, fileTypeHint utiString: String?) throws {
    try self.init(data: data)
  }

  /// Creates a player of the bytes of a sound file, on the playback device of `session`.
  init(
    _ bytes: Data,
    url: URL? = nil,
    data: Data? = nil,
    session: AVAudioSession = .sharedInstance()
  ) throws {
    do throws(SoundFile.ReadError) {
      head = SoundHead(try SoundFile(parsing: Array(bytes), mostSamples: Self.mostSamples))
    } catch {
      throw NSError(
        domain: NSOSStatusErrorDomain,
        code: Self.unsupportedType,
        userInfo: [NSLocalizedDescriptionKey: error.description]
      )
    }
    (self.url, self.data, self.session) = (url, data, session)
    super.init()
    interruptions = NotificationCenter.default.addObserver(
      forName: AVAudioSession.interruptionNotification,
      object: session,
      queue: nil
    ) { [weak self] note in
      let type = note.userInfo?[AVAudioSessionInterruptionTypeKey] as? UInt
      if type == AVAudioSession.InterruptionType.began.rawValue { self?.takeThread()?.cancel() }
    }
  }

  deinit {
    if let interruptions { NotificationCenter.default.removeObserver(interruptions) }
    // It may be the thread itself that ends the player.
    thread?.cancel()
  }

  /// Delegate to notify of the sound's end; held weakly.
  open weak var delegate: (any AVAudioPlayerDelegate)? {
    get { lock.withLock { listener } }
    set { lock.withLock { listener = newValue } }
  }

  /// Does nothing and returns true: sounds are in memory.
  @discardableResult
  open func prepareToPlay() -> Bool { true }

  /// Plays from `currentTime` on, and returns true.
  ///
  /// If the device cannot be opened, the delegate receives `audioPlayerDidFinishPlaying` with
  /// false.
  @discardableResult
  open func play() -> Bool { play(after: 0) }

  /// Plays from `currentTime` on, once `deviceCurrentTime` reaches `time`, and returns true.
  @discardableResult
  open func play(atTime time: TimeInterval) -> Bool { play(after: time - deviceCurrentTime) }

  private func play(after seconds: TimeInterval) -> Bool {
    lock.withLock {
      guard thread == nil else { return true }
      if head.isAtEnd { head.rewind() }
      head.waitSeconds = seconds.isFinite ? max(0, seconds) : 0
      playing += 1
      let number = playing
      thread = SoundThread(
        on: session.devices.playback,
        { [weak self] in Source(player: self, number: number) },
        whenEnded: { [weak self] in self?.end($0, of: number) }
      )
      return true
    }
  }

  /// Stops and keeps `currentTime`, where the next `play` continues.
  open func pause() { takeThread()?.stop() }

  private func takeThread() -> SoundThread? {
    lock.withLock {
      defer { thread = nil }
      playing += 1
      return thread
    }
  }

  /// Stops and keeps `currentTime`, as `pause` does.
  open func stop() { pause() }

  private func end(_ end: SoundThread.End, of number: Int) {
    let isPresent = lock.withLock {
      guard playing == number else { return false }
      thread = nil
      if end == .finished { head.rewind() }
      return true
    }
    guard isPresent, end != .stopped else { return }
    DispatchQueue.main.async { [self] in
      delegate?.audioPlayerDidFinishPlaying(self, successfully: end == .finished)
    }
  }

  // The player may be released while its thread ends.
  private struct Source: SoundSource {
    weak var player: AVAudioPlayer?
    let number: Int

    mutating func fill(
      _ block: inout SampleBuffer,
      count: FrameCount,
      at rate: SampleRate
    ) -> FrameCount {
      guard let player else { return 0 }
      return player.lock.withLock {
        player.playing == number ? player.head.fill(&block, count: count, at: rate) : 0
      }
    }
  }

  // MARK: Properties

  /// True while it plays.
  open var isPlaying: Bool { lock.withLock { thread != nil } }

  /// Number of channels played: always 1, since sounds are mixed to mono.
  open var numberOfChannels: Int { 1 }

  /// Length of the sound, in seconds.
  open var duration: TimeInterval { lock.withLock { head.duration } }

  /// Playback position in seconds, up to 60 ms ahead of the loudspeaker.
  open var currentTime: TimeInterval {
    get { lock.withLock { head.time } }
    set { lock.withLock { head.time = newValue } }
  }

  /// Time of the monotonic clock in seconds, the reference of `play(atTime:)`.
  open var deviceCurrentTime: TimeInterval { Double(MonotonicClock.now().nanoseconds) / 1e9 }

  /// Repetitions after the first time; negative for repetition until `stop`.
  open var numberOfLoops: Int {
    get { lock.withLock { head.loops } }
    set { lock.withLock { head.loops = newValue } }
  }

  /// Volume, clamped to 0 to 1.
  open var volume: Float {
    get { lock.withLock { head.volume } }
    set { setVolume(newValue, fadeDuration: 0) }
  }

  /// Fades to `volume`, clamped to 0 to 1, linearly over `duration` seconds of playback.
  open func setVolume(_ volume: Float, fadeDuration duration: TimeInterval) {
    lock.withLock { head.setVolume(volume, fadeSeconds: duration) }
  }
}

/// Delegate of an `AVAudioPlayer`, called on the main queue.
public protocol AVAudioPlayerDelegate: AnyObject {
  /// Tells the delegate that the sound ended; `flag` is false if the device could not be opened or
  /// was lost.
  func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool)
  /// Never called: a sound is decoded when the player is made.
  func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?)
}

extension AVAudioPlayerDelegate {
  /// Does nothing.
  public func audioPlayerDidFinishPlaying(_ player: AVAudioPlayer, successfully flag: Bool) {}
  /// Does nothing.
  public func audioPlayerDecodeErrorDidOccur(_ player: AVAudioPlayer, error: (any Error)?) {}
}
