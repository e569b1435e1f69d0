import ProgramRig
import CJack
import Foundation

/// A JACK client that stands for the air around two headsets: it plays into the microphones and
/// records the loudspeakers, all with one frame counter.
///
/// **Thread safety:** `process` runs on JACK's thread; recordings are read after `stop`.
// SAFETY: memory is made before the client is activated and read after it was deactivated.
@safe
package final class HeadsetRig: @unchecked Sendable {
  private let client: OpaquePointer
  private let microphones: [OpaquePointer]
  private let speakers: [OpaquePointer]
  private let sounds: [UnsafeMutableBufferPointer<Float>]
  private let recordings: [UnsafeMutableBufferPointer<Float>]
  private var position = 0

  /// Plays `sounds`, one per headset at 48 kHz, over and over, and records for `seconds` at most.
  ///
  /// Throws if no JACK server answers (`JACK_DEFAULT_SERVER` names it).
  package init(playing sounds: [[Float]], seconds: Int) throws {
    var status = JackStatus(0)
    guard let client = unsafe jack_open_plain("rig", &status) else {
      throw RigError("no JACK server answers (JACK_DEFAULT_SERVER names it)")
    }
    unsafe self.client = client
    unsafe self.sounds = sounds.map { unsafe Self.memory($0) }
    unsafe recordings = sounds.map { _ in
      unsafe Self.memory([Float](repeating: 0, count: seconds * 48_000))
    }
    unsafe microphones = try sounds.indices.map { side in
      unsafe try Self.port(of: client, "mic\(side)", JackPortIsOutput)
    }
    unsafe speakers = try sounds.indices.map { side in
      unsafe try Self.port(of: client, "spk\(side)", JackPortIsInput)
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

  deinit {
    stop()
    unsafe (sounds + recordings).forEach { unsafe $0.deallocate() }
  }

  private static func memory(_ samples: [Float]) -> UnsafeMutableBufferPointer<Float> {
    let memory = UnsafeMutableBufferPointer<Float>.allocate(capacity: samples.count)
    _ = unsafe memory.initialize(from: samples)
    return unsafe memory
  }

  private static func port(
    of client: OpaquePointer,
    _ name: String,
    _ direction: JackPortFlags
  ) throws -> OpaquePointer {
    let port = unsafe jack_port_register(
      client,
      name,
      JACK_DEFAULT_AUDIO_TYPE,
      UInt(direction.rawValue),
      0
    )
    guard let port = unsafe port else { throw RigError("JACK refused the port \(name)") }
    return unsafe port
  }

  private func process(_ frames: Int) {
    for side in unsafe microphones.indices {
      guard
        let out = unsafe jack_port_get_buffer(microphones[side], UInt32(frames)),
        let input = unsafe jack_port_get_buffer(speakers[side], UInt32(frames))
      else { continue }
      let microphone = unsafe out.assumingMemoryBound(to: Float.self)
      let speaker = unsafe input.assumingMemoryBound(to: Float.self)
      let sound = unsafe sounds[side]
      let recording = unsafe recordings[side]
      for frame in 0..<frames {
        unsafe microphone[frame] =
          sound.isEmpty ? 0 : sound[(position + frame) % sound.count]
        if position + frame < recording.count {
          unsafe recording[position + frame] = speaker[frame]
        }
      }
    }
    position += frames
  }

  /// Number of frames played and recorded so far, which grows until `stop`.
  package var frames: Int { position }

  /// Stops playing and recording; later calls do nothing.
  package func stop() {
    guard !isStopped else { return }
    isStopped = true
    // libjack 1.9.21 now and then waits in this call for ever; a client that is given up is kept as
    // it is.
    let client = unsafe Int(bitPattern: client)
    let closed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      if let client = unsafe OpaquePointer(bitPattern: client) {
        _ = unsafe jack_client_close(client)
      }
      closed.signal()
    }
    guard closed.wait(timeout: .now() + 5) == .timedOut else { return }
    print("JACK did not let a client go")
    _ = unsafe Unmanaged.passRetained(self)
  }

  private var isStopped = false

  /// Returns what was recorded from the loudspeaker of `side`, at 48 kHz; call `stop` first.
  package func recording(of side: Int) -> [Float] {
    unsafe Array(recordings[side].prefix(position))
  }
}
