import ALSAAudio
import Dispatch
import Foundation
import Synchronization
import VoiceEngine

/// A recording of a call to a stereo WAV file of 16 bits at 48 kHz.
///
/// The file's header is correct after each second, so a program that is killed leaves a file that
/// can be played.
///
/// **Life cycle:** open from the initialiser until `close`. **Thread safety:** any thread; a queue
/// of its own waits for the disk.
// SAFETY: what changes is touched on `queue` only.
final class CallRecording: @unchecked Sendable {
  /// The file.
  let file: URL
  let queue = DispatchQueue(label: "sidetone.recording")
  private let onFailure: @Sendable (CallRecording) -> Void
  /// Number of samples that wait for the disk.
  private let backlog = Atomic<Int>(0)
  /// True once the disk is too far behind: later sound is dropped, even if it catches up.
  private let isLate = Atomic<Bool>(false)
  private var handle: FileHandle?
  /// The first error, in words; nil without one.
  private var failure: String?
  private var alignment = StereoAlignment()
  private var sampleCount = 0

  /// Time for `close` to write the rest.
  private static let closingPatience = DispatchTimeInterval.seconds(5)
  /// Number of waiting samples that ends the recording: a minute of both sides.
  private static let longestBacklog = 60 * 2 * 48_000
  private static let headerLength = 44
  /// Maximum number of samples, due to the 32-bit sizes of RIFF files: some six hours.
  private static let mostSamples = 2_147_000_000

  /// Creates the file, which must not exist yet, readable by its owner alone.
  ///
  /// `onFailure` is called at most once, on any thread, if writing fails or the disk is too slow;
  /// `close` returns the reason. Throws a `PhoneError` if the file cannot be created.
  convenience init(_ file: URL, onFailure: @escaping @Sendable (CallRecording) -> Void) throws {
    let folder = file.deletingLastPathComponent()
    // What cannot be made is said by the next step.
    try? FileManager.default.createDirectory(
      at: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let descriptor = unsafe open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = unsafe String(cString: strerror(errno))
      throw PhoneError.unusableFile(file.path, reason: reason)
    }
    self.init(file, descriptor: descriptor, onFailure: onFailure)
  }

  /// Writes to a file that is open already.
  init(_ file: URL, descriptor: CInt, onFailure: @escaping @Sendable (CallRecording) -> Void) {
    self.file = file
    self.onFailure = onFailure
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    queue.async { [self] in put([]) }
  }

  /// Writes the sound of both sides.
  func append(_ sound: RecordedSound) {
    let count = sound.said.count + sound.heard.count
    guard count > 0, !isLate.load(ordering: .relaxed) else { return }
    let waiting = backlog.add(count, ordering: .relaxed).newValue
    guard waiting <= Self.longestBacklog else {
      let wasLate = isLate.exchange(true, ordering: .relaxed)
      if !wasLate { onFailure(self) }
      return
    }
    queue.async { [self] in
      backlog.subtract(count, ordering: .relaxed)
      put(alignment.add(sound))
    }
  }

  /// Writes the rest, closes the file, and returns the first error in words; nil without one.
  ///
  /// Waits for the disk for five seconds at most, and not at all if it is too far behind already.
  /// Pending sound is still written after that.
  func close() async -> String? {
    let slow = "the disk was too slow"
    let isAnswered = Flag(isLate.load(ordering: .relaxed))
    return await withCheckedContinuation { continuation in
      if isAnswered.value.load(ordering: .relaxed) { continuation.resume(returning: slow) }
      queue.async { [self] in
        put(alignment.finish())
        do { try handle?.close() } catch { fail(error.localizedDescription) }
        handle = nil
        if isAnswered.isFirst { continuation.resume(returning: failure) }
      }
      DispatchQueue.global().asyncAfter(deadline: .now() + Self.closingPatience) {
        if isAnswered.isFirst { continuation.resume(returning: slow) }
      }
    }
  }

  /// A flag for something that is done once.
  private final class Flag: Sendable {
    let value: Atomic<Bool>

    init(_ value: Bool) { self.value = Atomic(value) }

    /// True at the first read, unless `value` was true from the beginning.
    var isFirst: Bool { !value.exchange(true, ordering: .relaxed) }
  }

  private func put(_ samples: [Float]) {
    guard let handle else { return }
    guard sampleCount + samples.count <= Self.mostSamples else { return fail("the file is full") }
    do {
      let offset = UInt64(Self.headerLength + 2 * sampleCount)
      try handle.seek(toOffset: offset)
      try handle.write(contentsOf: Data(WaveFile.encode(samples)))
      sampleCount += samples.count
      try handle.seek(toOffset: 0)
      let header = WaveFile.header(rateHertz: 48_000, sampleCount: sampleCount, channels: 2)
      try handle.write(contentsOf: Data(header))
    } catch {
      fail(error.localizedDescription)
    }
  }

  private func fail(_ reason: String) {
    handle = nil
    failure = failure ?? reason
    if !isLate.load(ordering: .relaxed) { onFailure(self) }
  }
}
