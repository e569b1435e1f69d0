import CLinux
import Foundation
import MediaCore
import RealTime

/// A microphone that captures a sound file once, from its start, then silence.
struct VirtualMicrophone: ~Copyable {
  let rate: SampleRate
  var clock: VirtualClock
  private let sound: FixedArray<Float>
  private let soundFrames: Int
  private var position = 0
  /// Most frames of one read: half a second, for which the voice path has room at 48 kHz, whatever
  /// the file's rate is.
  private let longestRead: FrameCount
  private static let longestReadNanoseconds: Int64 = 500_000_000

  /// A microphone that captures silence.
  init(wishes: DeviceWishes) throws(AudioDeviceError) {
    clock = try VirtualClock(
      device: DeviceName.null.description,
      periodNanoseconds: wishes.periodNanoseconds
    )
    rate = .voice
    longestRead = rate.frames(inNanoseconds: Self.longestReadNanoseconds)
    sound = FixedArray(repeating: 0, count: 1)
    soundFrames = 0
  }

  /// A microphone that captures the file at `path`.
  init(path: String, wishes: DeviceWishes) throws(AudioDeviceError) {
    let device = DeviceName.file(path).description
    let wave = try Self.load(path: path, device: device)
    clock = try VirtualClock(device: device, periodNanoseconds: wishes.periodNanoseconds)
    rate = SampleRate(hertz: wave.rateHertz)
    longestRead = max(1, rate.frames(inNanoseconds: Self.longestReadNanoseconds))
    soundFrames = wave.samples.count
    var sound = FixedArray<Float>(repeating: 0, count: max(1, wave.samples.count))
    for (index, sample) in wave.samples.enumerated() { sound[index] = sample }
    self.sound = sound
  }

  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer {
    let frames = min(min(block.count, longestRead), pendingFrames())
    let spoken = max(0, min(frames, soundFrames - position))
    block.copy(from: sound, at: min(position, soundFrames), count: spoken)
    block.fill(0, from: spoken, count: frames - spoken)
    position += frames
    return DeviceTransfer(frames: frames)
  }

  @_noAllocation @_noLocks
  mutating func pendingFrames() -> FrameCount {
    max(0, clock.frames(at: MonotonicClock.now(), rate: rate) - position)
  }

  private static func load(path: String, device: String) throws(AudioDeviceError) -> SoundFile {
    let bytes: [UInt8]
    do {
      // To its end, as pipes want it.
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      bytes = [UInt8](try file.readToEnd() ?? Data())
    } catch {
      throw AudioDeviceError(
        kind: .badFile,
        device: device,
        operation: "open",
        reason: FileManager.default.fileExists(atPath: path)
          ? "it cannot be read" : "there is no such file"
      )
    }
    do throws(SoundFile.ReadError) {
      return try SoundFile(parsing: bytes)
    } catch {
      let reason = "it is no sound file that can be read: \(error)"
      throw AudioDeviceError(kind: .badFile, device: device, operation: "parse", reason: reason)
    }
  }
}
