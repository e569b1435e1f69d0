import CALSA
import CLinux
import Glibc
import MediaCore
import RealTime
import Synchronization

/// The shortest cycle of PipeWire's graph, by its settings.
///
/// Its ALSA plugin gives the server at most four periods in a cycle, and the rest is silence
/// (0.3.65). In a virtual machine, where cycles have 1,024 frames by default, half of the sound
/// would be lost with periods of 2.5 ms.
package enum PipeWireCycle {
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
    let found = PipeWireSettings(settings()).leastCycle
    note(found)
    return found
  }

  /// Makes `least` return `nanoseconds` for half a second, for devices opened meanwhile: a cycle
  /// that was measured by the frames moved.
  package static func assume(_ nanoseconds: Int64) { note(nanoseconds) }

  private static func note(_ nanoseconds: Int64) {
    newest.withLock { $0 = Answer(nanoseconds: nanoseconds, at: MonotonicClock.now()) }
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

  /// Watches the settings for another cycle, by a `pw-metadata` that runs as long as the watch.
  ///
  /// **Thread safety:** one thread waits on `descriptor` and takes the news.
  package final class Watch: Sendable {
    /// A change of the settings.
    package enum News: Equatable, Sendable {
      /// The cycle is as long as before.
      case none
      /// The cycle is of another length than before, both in nanoseconds.
      case cycle(from: Int64, to: Int64)
      /// The server or its program has gone.
      case end
    }

    /// The descriptor to poll for reading.
    package let descriptor: CInt
    /// Descriptor whose closing, also at the end of this process, ends the helper.
    private let leash: CInt
    private let helper: pid_t
    private let state: Mutex<(settings: PipeWireSettings, rest: [UInt8], cycle: Int64)>

    /// Starts to watch for another cycle than the one that the devices were opened for; nil if the
    /// system does not permit it.
    package convenience init?() {
      let known = newest.withLock { $0?.nanoseconds ?? 0 }
      self.init(from: known, by: "pw-metadata -m -n settings 0")
    }

    /// Watches the output of `command` for cycles other than `cycle` nanoseconds; nil if the system
    /// does not permit it.
    init?(from cycle: Int64, by command: String) {
      var leash: [CInt] = [0, 0]
      var output: [CInt] = [0, 0]
      guard unsafe pipe_for_itself(&leash) == 0 else { return nil }
      guard unsafe pipe_for_itself(&output) == 0 else {
        for end in leash { close(end) }
        return nil
      }
      let script = "\(command) & helper=$!; exec >/dev/null; read -r _; kill $helper"
      let helper = unsafe helper_spawn(script, leash[0], output[1])
      for end in [leash[0], output[1]] { close(end) }
      guard helper > 0 else {
        for end in [leash[1], output[0]] { close(end) }
        return nil
      }
      self.helper = helper
      self.leash = leash[1]
      descriptor = output[0]
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      state = Mutex((PipeWireSettings(), [], cycle))
    }

    deinit {
      close(leash)
      close(descriptor)
      // It ends by itself now; until then it would be a zombie.
      while waitpid(helper, nil, 0) < 0, errno == EINTR {}
    }

    /// Reads what the helper has written.
    package func takeNews() -> News {
      state.withLock { state in
        var block = [UInt8](repeating: 0, count: 4_096)
        var isOver = false
        while true {
          let count = unsafe read(descriptor, &block, block.count)
          isOver = count == 0
          guard count > 0 else { break }
          state.rest += block.prefix(count)
          while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
            state.settings.note(String(decoding: state.rest[..<end], as: UTF8.self))
            state.rest.removeFirst(end + 1)
          }
          // No line of a setting is that long.
          if state.rest.count > block.count { state.rest = [] }
        }
        let cycle = state.settings.leastCycle
        guard cycle > 0, cycle != state.cycle else { return isOver ? .end : .none }
        defer { state.cycle = cycle }
        note(cycle)
        return .cycle(from: state.cycle, to: cycle)
      }
    }
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
