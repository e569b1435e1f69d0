import ALSAAudio
import Dispatch
import Foundation
import VoiceEngine

/// A call's sound on its way to a stereo WAV file of 16 bits at 48 kHz.
///
/// The header is right after each second, so a program that is killed leaves a file that plays.
///
/// **Life cycle:** open from the initialiser until `close`. **Thread safety:** any thread; the disk
/// is waited for on a queue of its own.
final class CallRecording: @unchecked Sendable {
  // SAFETY: what changes is touched on `queue` only.

  /// The file.
  let file: URL
  private let queue = DispatchQueue(label: "sidetone.recording")
  private let onFailure: @Sendable (String) -> Void
  private var handle: FileHandle?
  private var alignment = StereoAlignment()
  private var sampleCount = 0

  private static let headerLength = 44
  /// What a RIFF file's 32-bit sizes allow, some six hours.
  private static let mostSamples = 2_147_000_000

  /// Makes the file, which may not be there yet, readable by its owner alone.
  ///
  /// `onFailure` is called at most once, on any thread, if the disk takes no more. Throws a
  /// `PhoneError` if the file cannot be made.
  convenience init(_ file: URL, onFailure: @escaping @Sendable (String) -> Void) throws {
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
      throw PhoneError("cannot record to \"\(file.path)\": \(reason)")
    }
    self.init(file, descriptor: descriptor, onFailure: onFailure)
  }

  /// Writes to what is open already.
  init(_ file: URL, descriptor: CInt, onFailure: @escaping @Sendable (String) -> Void) {
    self.file = file
    self.onFailure = onFailure
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    queue.async { [self] in put([]) }
  }

  /// Writes what both sides have said.
  func append(_ sound: RecordedSound) {
    guard !sound.said.isEmpty || !sound.heard.isEmpty else { return }
    queue.async { [self] in put(alignment.add(sound)) }
  }

  /// Writes the rest, and closes the file.
  func close() {
    queue.async { [self] in
      put(alignment.finish())
      // Everything has been written; nothing can be done about a disk that fails now.
      try? handle?.close()
      handle = nil
    }
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
    onFailure(reason)
  }
}
