import ALSAAudio
import MediaCore

/// The place of an `AVAudioPlayer` in its sound, with its loudness.
struct PlayerHead {
  let sound: SoundFile
  /// Place in samples of the sound; the next frame is played from there.
  var place = 0.0
  /// Repetitions after the first time; negative for no end.
  var loops = 0
  /// Repetitions that have begun.
  private(set) var repeated = 0
  /// Factor of the samples, from 0 to 1.
  private(set) var volume: Float = 1
  private var fade: (to: Float, seconds: Double)?
  /// Silence before the sound, in seconds.
  var waitSeconds = 0.0

  init(_ sound: SoundFile) { self.sound = sound }

  /// True if nothing is left to play.
  var isAtEnd: Bool { place >= Double(sound.samples.count) && loops >= 0 && repeated >= loops }

  /// Goes back to the beginning.
  mutating func rewind() { (place, repeated) = (0, 0) }

  /// Moves the volume to another in equal steps.
  mutating func setVolume(_ volume: Float, fadeSeconds: Double) {
    let target = volume.isFinite ? min(max(volume, 0), 1) : 1
    fade = fadeSeconds > 0 ? (target, fadeSeconds) : nil
    if fade == nil { self.volume = target }
  }

  /// Writes the next frames at `rate` and returns their number, which is less at the end.
  mutating func fill(
    _ block: inout SampleBuffer,
    count: FrameCount,
    at rate: SampleRate
  ) -> FrameCount {
    let (frameSeconds, length) = (1 / Double(rate.hertz), Double(sound.samples.count))
    let step = Double(sound.rateHertz) * frameSeconds
    for index in 0..<count {
      if waitSeconds > 0 {
        waitSeconds -= frameSeconds
        block[index] = 0
        continue
      }
      if place >= length {
        guard length > 0, !isAtEnd else { return index }
        repeated += 1
        place = place.truncatingRemainder(dividingBy: length)
      }
      block[index] = sample * volume
      place += step
      follow(frameSeconds)
    }
    return count
  }

  // Between two samples of the sound a straight line: a player is no voice.
  private var sample: Float {
    let index = Int(place)
    let this = sound.samples[index]
    let next = index + 1 < sound.samples.count ? sound.samples[index + 1] : this
    return this + (next - this) * Float(place - Double(index))
  }

  private mutating func follow(_ frameSeconds: Double) {
    guard let (target, seconds) = fade else { return }
    guard seconds > frameSeconds else {
      (volume, fade) = (target, nil)
      return
    }
    volume += (target - volume) * Float(frameSeconds / seconds)
    fade = (target, seconds - frameSeconds)
  }
}
