package import MediaCore

/// Playback position in a sound, with repetitions and volume.
package struct SoundHead: SoundSource {
  private let sound: SoundFile
  // In samples of the sound.
  private var place = 0.0
  /// Repetitions after the first time; negative for no end.
  package var loops: Int
  private var repeated = 0
  /// Factor of the samples, from 0 to 1.
  package private(set) var volume: Float = 1
  private var fade: (to: Float, seconds: Double)?
  /// Silence before the sound, in seconds.
  package var waitSeconds = 0.0

  /// The beginning of a sound.
  package init(_ sound: SoundFile, loops: Int = 0) {
    self.sound = sound
    self.loops = loops
  }

  /// Duration of the sound, in seconds.
  package var duration: Double { Double(sound.samples.count) / Double(sound.rateHertz) }

  /// Playback position in the sound, in seconds, from 0 to `duration`.
  package var time: Double {
    get { min(place / Double(sound.rateHertz), duration) }
    set {
      let place = newValue * Double(sound.rateHertz)
      self.place = place.isFinite ? min(max(place, 0), Double(sound.samples.count)) : 0
    }
  }

  /// True if nothing is left to play.
  package var isAtEnd: Bool {
    place >= Double(sound.samples.count) && loops >= 0 && repeated >= loops
  }

  /// Goes back to the beginning.
  package mutating func rewind() { (place, repeated) = (0, 0) }

  /// Changes the volume linearly to `volume`, limited to 0 to 1, over `fadeSeconds`, or at once if
  /// that is 0.
  package mutating func setVolume(_ volume: Float, fadeSeconds: Double) {
    let target = volume.isFinite ? min(max(volume, 0), 1) : 1
    fade = fadeSeconds > 0 && fadeSeconds.isFinite ? (target, fadeSeconds) : nil
    if fade == nil { self.volume = target }
  }

  package mutating func fill(
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

  // Between two samples of the sound a straight line: it is no voice.
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
