import CALSA
import Glibc
import MediaCore
import RealTime
import Synchronization

/// The shortest cycle of PipeWire's graph, by its settings.
///
/// Its ALSA plugin gives the server at most four periods in a cycle, and the rest is silence
/// (0.3.65): in a virtual machine, where cycles have 1,024 frames by default, half of the sound.
enum PipeWireCycle {
  private struct Answer {
    var nanoseconds: Int64
    var at: MonotonicInstant
  }

  /// Time for which an answer is reused, in nanoseconds: both sides of a headset ask within it.
  private static let lifetime: Int64 = 500_000_000
  private static let newest = Mutex<Answer?>(nil)

  /// The shortest cycle that the server grants whatever is asked for, in nanoseconds; 0 if it does
  /// not say.
  ///
  /// Runs `pw-metadata`, which takes some milliseconds, and may hang as the server does.
  static func least() -> Int64 {
    let now = MonotonicClock.now()
    let known = newest.withLock { $0 }
    if let known, now.nanoseconds(since: known.at) < lifetime { return known.nanoseconds }
    let found = nanoseconds(in: settings())
    newest.withLock { $0 = Answer(nanoseconds: found, at: MonotonicClock.now()) }
    return found
  }

  /// The shortest cycle in the output of `pw-metadata -n settings 0`, in nanoseconds; 0 if it names
  /// none.
  static func nanoseconds(in settings: String) -> Int64 {
    var values: [Substring: Int64] = [:]
    for line in settings.split(separator: "\n") {
      let fields = line.split(separator: "'", omittingEmptySubsequences: false)
      guard fields.count > 3, let value = Int64(fields[3]), (0...1_000_000).contains(value) else {
        continue
      }
      values[fields[1]] = value
    }
    func value(_ name: Substring) -> Int64 { values["clock.\(name)"[...]] ?? 0 }
    let forced = value("force-quantum")
    let frames = forced > 0 ? forced : value("min-quantum")
    let rate = value("force-rate") > 0 ? value("force-rate") : value("rate")
    // Up, so that it has as many frames again.
    return rate > 0 ? (frames * 1_000_000_000 + rate - 1) / rate : 0
  }

  // Empty without the program, or without a server.
  private static func settings() -> String {
    guard let pipe = unsafe popen("exec pw-metadata -n settings 0 2>/dev/null", "re") else {
      return ""
    }
    defer { unsafe pclose(pipe) }
    var text: [UInt8] = []
    var block = [UInt8](repeating: 0, count: 4_096)
    while text.count < 1 << 20 {
      let count = unsafe fread(&block, 1, block.count, pipe)
      guard count > 0 else { break }
      text += block.prefix(count)
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension PCM {
  /// True for a PCM of PipeWire's ALSA plugin, under whatever name it was opened.
  static func isOfPipeWire(_ handle: OpaquePointer) -> Bool {
    var output: OpaquePointer?
    guard unsafe snd_output_buffer_open(&output) == 0, let output = unsafe output else {
      return false
    }
    defer { _ = unsafe snd_output_close(output) }
    // Its name is the program's or the user's; what it is stands in its description alone.
    guard unsafe snd_pcm_dump(handle, output) == 0 else { return false }
    var text: UnsafeMutablePointer<CChar>?
    let length = unsafe snd_output_buffer_string(output, &text)
    guard length > 0, let text = unsafe text else { return false }
    let bytes = unsafe UnsafeBufferPointer(start: text, count: length)
    let shown = unsafe String(decoding: bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return shown.contains("PipeWire PCM I/O Plugin")
  }
}
