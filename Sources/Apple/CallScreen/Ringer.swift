package import ALSAAudio

package import CallState
import Foundation
import Logging
import MediaCore
import RealTime
import Synchronization

/// Plays the ringtone on a device of its own while an incoming call rings.
///
/// The device is opened when the ringing begins, and released when it ends, before the call needs
/// it. If it cannot be opened, the call is silent, which is no error: the call is on the screen.
package final class Ringer: CallPresenter {
  private let device: DeviceName
  private let ringing = Mutex<SoundThread?>(nil)

  /// A ringer on the given device, by default the desktop's.
  package init(device: DeviceName = .pcm("default")) {
    self.device = device
  }

  package func present(_ presentation: CallPresentation) {
    let former = ringing.withLock { ringing -> SoundThread? in
      switch (ringing, presentation.isRinging) {
      case (nil, true):
        let sound = presentation.ringtoneSound
        ringing = SoundThread(on: device, { RingTone(named: sound) })
        return nil
      case (let former?, false):
        ringing = nil
        return former
      default:
        return nil
      }
    }
    former?.stop()
  }

  package func present(ended record: CallRecord) {}
}

/// Ringtone of an incoming call, from the beginning of the ringing on.
enum RingTone: SoundSource {
  /// 440 and 480 Hz for two seconds, then four seconds of silence; `frames` is the position.
  case system(frames: Int)
  /// Sound file of the app, repeated.
  case sound(SoundHead)

  private static let log = Logger(label: "org.sidetone.ringtone")
  private static let sizeLimit = 8_000_000
  /// Maximum length in samples, 5.8 minutes at 48 kHz.
  private static let lengthLimit = 1 << 24

  /// Loads the sound file `name`, else selects the system's ringtone.
  ///
  /// `name` is a path, or the name of a file beside the program or in its resources.
  init(named name: String?) {
    guard let name, !name.isEmpty else {
      self = .system(frames: 0)
      return
    }
    let own =
      name.hasPrefix("/")
      ? [] : [Bundle.main.bundleURL, Bundle.main.resourceURL].compactMap { $0 }
    let places = [URL(fileURLWithPath: name)] + own.map { $0.appending(path: name) }
    if let sound = Self.sound(at: places) {
      self = sound
      return
    }
    // Those of targets are looked for where nothing else is found.
    let others = name.hasPrefix("/") ? [] : Self.targetFolders.map { $0.appending(path: name) }
    if let sound = Self.sound(at: others) {
      self = sound
      return
    }
    Self.log.error("the ringtone is the system's: \(name) is no sound file that can be read")
    self = .system(frames: 0)
  }

  // Answering waits for the ringing to end: do nothing here that blocks or takes long.
  private static func sound(at places: [URL]) -> RingTone? {
    for place in places {
      // What is no sound file is passed over; the built-in ringtone is the last.
      let values = try? place.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
      guard values?.isRegularFile == true, (values?.fileSize ?? .max) <= sizeLimit,
        let bytes = try? Data(contentsOf: place),
        let file = try? SoundFile(parsing: Array(bytes), mostSamples: lengthLimit),
        !file.samples.isEmpty
      else { continue }
      return .sound(SoundHead(file, loops: -1))
    }
    return nil
  }

  // The resources of each target, as SwiftPM lays them beside the program.
  private static let targetFolders: [URL] = {
    let own = Bundle.main.bundleURL
    // A folder that cannot be read has none.
    let all = try? FileManager.default.contentsOfDirectory(at: own, includingPropertiesForKeys: [])
    return (all ?? []).filter { $0.pathExtension == "resources" }.sorted { $0.path < $1.path }
  }()

  mutating func fill(
    _ block: inout SampleBuffer,
    count: FrameCount,
    at rate: SampleRate
  ) -> FrameCount {
    switch self {
    case .system(let frames):
      for index in 0..<count { block[index] = Self.systemSample(at: frames + index, rate: rate) }
      self = .system(frames: frames + count)
      return count
    case .sound(var head):
      defer { self = .sound(head) }
      return head.fill(&block, count: count, at: rate)
    }
  }

  private static let level = 0.2
  private static let soundingSeconds = 2.0
  private static let cycleSeconds = 6.0

  static func systemSample(at frame: Int, rate: SampleRate) -> Float {
    let time = Double(frame) / Double(rate.hertz)
    guard time.truncatingRemainder(dividingBy: cycleSeconds) < soundingSeconds else { return 0 }
    return Float(level * (sin(2 * .pi * 440 * time) + sin(2 * .pi * 480 * time)) / 2)
  }
}
