import CJack
import Foundation
import VoiceEngine

/// A JACK client that is the air around headsets: microphones that hear a chirp each second, and
/// loudspeakers that are recorded, all with one frame counter.
///
/// The two sides chirp half a second apart, so that an echo is never taken for the far side.
/// **Thread safety:** `process` runs on JACK's thread; results are read after `stop`.
// SAFETY: buffers are made before the client is activated and read after it was deactivated.
@safe
final class HeadsetRig: @unchecked Sendable {
  static let sides = 2
  private let client: OpaquePointer
  private let microphones: [OpaquePointer]
  private let speakers: [OpaquePointer]
  private let chirp = ProbeSignal.chirp()
  private let recordings: [UnsafeMutablePointer<Float>]
  private let capacity: Int
  private var position = 0

  init(seconds: Int) throws {
    var status = JackStatus(0)
    guard let client = unsafe jack_open_plain("rig", &status) else {
      throw RigError("no JACK server answers (JACK_DEFAULT_SERVER names it)")
    }
    unsafe self.client = client
    let frames = (seconds + 5) * 48_000
    capacity = frames
    unsafe recordings = (0..<Self.sides).map { _ in
      let memory = UnsafeMutablePointer<Float>.allocate(capacity: frames)
      unsafe memory.initialize(repeating: 0, count: frames)
      return unsafe memory
    }
    unsafe microphones = (0..<Self.sides).map { side in
      unsafe Self.port(of: client, "mic\(side)", JackPortIsOutput)
    }
    unsafe speakers = (0..<Self.sides).map { side in
      unsafe Self.port(of: client, "spk\(side)", JackPortIsInput)
    }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe jack_set_process_callback(
      client,
      { frames, context in
        guard let context = unsafe context else { return 0 }
        unsafe Unmanaged<HeadsetRig>.fromOpaque(context).takeUnretainedValue()
          .process(Int(frames))
        return 0
      },
      context
    )
    guard unsafe jack_activate(client) == 0 else { throw RigError("JACK refused the client") }
  }

  private static func port(
    of client: OpaquePointer,
    _ name: String,
    _ direction: JackPortFlags
  ) -> OpaquePointer {
    guard
      let port = unsafe jack_port_register(
        client,
        name,
        JACK_DEFAULT_AUDIO_TYPE,
        UInt(direction.rawValue),
        0
      )
    else { preconditionFailure("a port of a fresh client can be made") }
    return unsafe port
  }

  private func process(_ frames: Int) {
    for side in 0..<Self.sides {
      guard
        let out = unsafe jack_port_get_buffer(microphones[side], UInt32(frames)),
        let input = unsafe jack_port_get_buffer(speakers[side], UInt32(frames))
      else { continue }
      let microphone = unsafe out.assumingMemoryBound(to: Float.self)
      let speaker = unsafe input.assumingMemoryBound(to: Float.self)
      for frame in 0..<frames {
        unsafe microphone[frame] = sound(of: side, at: position + frame)
        if position + frame < capacity {
          unsafe recordings[side][position + frame] = speaker[frame]
        }
      }
    }
    position += frames
  }

  private func sound(of side: Int, at frame: Int) -> Float {
    let offset = side * ProbeSignal.intervalFrames / Self.sides
    let phase = (frame + offset) % ProbeSignal.intervalFrames
    return phase < chirp.count ? chirp[phase] : 0
  }

  /// Mouth-to-ear delays in milliseconds of each chirp from `source` that `listener` heard, the
  /// first `skipping` seconds left out, `count` chirps at most; NaN for one that was not heard.
  func delays(from source: Int, to listener: Int, skipping: Int, count: Int) -> [Double] {
    _ = unsafe jack_deactivate(client)
    let heard = unsafe Array(
      UnsafeBufferPointer(start: recordings[listener], count: min(position, capacity))
    )
    let offset = source * ProbeSignal.intervalFrames / Self.sides
    var delays: [Double] = []
    var emitted = skipping * ProbeSignal.intervalFrames - offset
    while emitted + ProbeSignal.intervalFrames < heard.count, delays.count < count {
      let window = emitted..<emitted + ProbeSignal.intervalFrames - 2 * ProbeSignal.chirpFrames
      if emitted >= 0, let found = ProbeSignal.find(in: heard, range: window) {
        delays.append((found - Double(emitted)) / 48)
      } else {
        delays.append(.nan)
      }
      emitted += ProbeSignal.intervalFrames
    }
    if ProcessInfo.processInfo.environment["RIG_VERBOSE"] != nil {
      let list = delays.map { String(format: "%.2f", $0) }.joined(separator: " ")
      FileHandle.standardError.write(Data("\(source) to \(listener): \(list)\n".utf8))
    }
    return delays
  }
}

/// Why the rig cannot run.
struct RigError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
