import ProgramRig
import CRawVoice
package import MediaCore
package import RealTime
import Synchronization

extension RealTimeThread {
  private final class Answer<Value: Sendable>: Sendable {
    let result = Mutex<Result<Value, any Error>?>(nil)
  }

  /// Runs `work` on a real-time thread of its own, waits for it, and returns its result.
  package static func run<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) throws -> Value {
    let answer = Answer<Value>()
    let thread = try RealTimeThread(name: "raw", policy: .realTime) {
      let result = Result { try work() }
      answer.result.withLock { $0 = result }
    }
    thread.join()
    guard let result = answer.result.withLock({ $0 }) else {
      throw RigError("a thread did not run")
    }
    return try result.get()
  }
}

/// A voice path through libopus and libspeexdsp in plain C calls.
package enum RawVoice {
  /// Runs `work` with a new voice on a real-time thread, and returns its result.
  ///
  /// Packets have `packetFrames` frames at 48 kHz; `bitrate` is in bit/s.
  package static func run<Value: Sendable>(
    packetFrames: FrameCount,
    bitrate: Int,
    areFiltersOn: Bool = false,
    _ work: @escaping @Sendable (OpaquePointer) throws -> Value
  ) throws -> Value {
    try RealTimeThread.run {
      let voice = unsafe raw_voice_open(Int32(packetFrames), Int32(bitrate), areFiltersOn ? 1 : 0)
      guard let voice = unsafe voice else { throw RigError("libopus refused the setting") }
      defer { unsafe raw_voice_close(voice) }
      return try unsafe work(voice)
    }
  }
}
