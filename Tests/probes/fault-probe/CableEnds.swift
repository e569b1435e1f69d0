import ALSAAudio
import MediaCore
import RealTime
import VoiceEngine

/// Timeline of a talker's sound, by which the listener's recording is judged.
struct MouthRecord: Codable {
  /// The monotonic clock at the first frame, in nanoseconds.
  let begin: Int64
  let stretches: [Mouth.Stretch]
}

/// Interval of the search for a missing card.
///
/// A shorter one would take processor time from the programs that are measured.
struct Retry {
  private static let nanoseconds: Int64 = 30_000_000
  private var next = MonotonicInstant(nanoseconds: 0)

  /// Returns true at most once in 30 ms.
  mutating func isDue() -> Bool {
    let now = MonotonicClock.now()
    guard now >= next else { return false }
    next = now.advanced(byNanoseconds: Self.nanoseconds)
    return true
  }
}

/// A talker, whose sound a card's microphone captures.
///
/// Cards may go and come back at any time. Mouth and ears live by the monotonic clock: sample n is
/// n/48000 s after `begin`, whichever card it went through.
struct Mouth: ~Copyable {
  /// A time during which the card was present.
  ///
  /// From `frame` on, sound is played `shift` frames later than the monotonic clock says.
  struct Stretch: Codable {
    let frame: Int64
    var shift: Int64
  }

  private let name: DeviceName
  private let begin: MonotonicInstant
  private var headset: Headset?
  private var retry = Retry()
  private var written: Int64 = 0
  private var block = SampleBuffer(repeating: 0, count: 4_096)
  private(set) var stretches: [Stretch] = []

  /// Noise with a chirp twice a second: chirps show the delay, noise shows gaps.
  ///
  /// A tone would not do: the long-term predictor of Opus, misled by a loss, may make it fourteen
  /// times louder.
  private static let sound: [Float] = {
    let chirp = ProbeSignal.chirp()
    var state: UInt32 = 1
    return (0..<24_000).map { frame in
      state = state &* 1_664_525 &+ 1_013_904_223
      let noise = Float(Int32(bitPattern: state)) / Float(Int32.max) * 0.1
      return frame < chirp.count ? chirp[frame] : noise
    }
  }()
  private static let queued = 2_880

  init(_ name: String, begin: MonotonicInstant) {
    self.name = DeviceName(name)
    self.begin = begin
  }

  private func frame(at instant: MonotonicInstant) -> Int64 {
    Int64(SampleRate.voice.frames(inNanoseconds: instant.nanoseconds(since: begin)))
  }

  mutating func turn() {
    if headset == nil, retry.isDue() { open() }
    guard let queued = headset?.queuedFrames() else { return }
    let now = frame(at: MonotonicClock.now())
    // What was written sounds now plus what is queued; the least late look is the truest. A card
    // that is gone says 0.
    let shift = queued > 0 ? now + Int64(queued) - written : .max
    stretches[stretches.count - 1].shift = min(stretches[stretches.count - 1].shift, shift)
    let wanted = Self.queued - queued
    guard wanted >= 48 else { return }
    for index in 0..<wanted { block[index] = Self.sound[Int((written + Int64(index)) % 24_000)] }
    let transfer = headset?.write(block, count: wanted)
    guard let transfer, !transfer.isGone else { return headset = nil }
    if transfer.lost > 0 { restart() }
    written += Int64(transfer.frames)
  }

  private mutating func open() {
    do {
      var opened = try Headset(capture: .null, playback: name)
      try opened.start(fill: Self.queued)
      headset = consume opened
      restart()
    } catch {
      print(error)
    }
  }

  private mutating func restart() {
    written = frame(at: MonotonicClock.now()) + Int64(headset?.queuedFrames() ?? 0)
    stretches.append(Stretch(frame: written, shift: .max))
  }
}

/// A listener, who records a card's loudspeaker by the monotonic clock.
struct Ear: ~Copyable {
  private let name: DeviceName
  private let begin: MonotonicInstant
  private var headset: Headset?
  private var retry = Retry()
  private var block = SampleBuffer(repeating: 0, count: 4_096)
  private var samples: [Float] = []
  /// Least delayed reading of each second.
  ///
  /// `sample` is the number of samples read by then; `origin` is the clock's frame at which the
  /// first sample would have sounded if the card had the clock's rate.
  private var looks: [(sample: Int, origin: Int64)] = []
  /// Recorded samples by the clock's frames; silence while no card was present.
  private(set) var heard: [Float]

  init(_ name: String, begin: MonotonicInstant, seconds: Int) {
    self.name = DeviceName(name)
    self.begin = begin
    heard = [Float](repeating: 0, count: seconds * 48_000)
    // Room for all: an array that grows is copied, and this thread must not stall.
    samples.reserveCapacity((seconds + 1) * 48_000)
  }

  mutating func turn() {
    if headset == nil, retry.isDue() { open() }
    while let transfer = headset?.read(into: &block) {
      if transfer.isGone { return close() }
      if transfer.lost > 0 { settle() }
      guard transfer.frames > 0 else { return }
      for index in 0..<transfer.frames { samples.append(block[index]) }
      let pending = headset?.pendingFrames() ?? 0
      let now = MonotonicClock.now().nanoseconds(since: begin)
      let first =
        Int64(SampleRate.voice.frames(inNanoseconds: now)) - Int64(pending + samples.count)
      look(at: first)
    }
  }

  mutating func close() {
    settle()
    headset = nil
  }

  private mutating func open() {
    do {
      var opened = try Headset(capture: name, playback: .null)
      try opened.start(fill: 0)
      headset = consume opened
    } catch {
      print(error)
    }
  }

  private mutating func look(at first: Int64) {
    let second = samples.count / 48_000
    if second >= looks.count {
      looks.append((samples.count, first))
    } else if first < looks[second].origin {
      looks[second] = (samples.count, first)
    }
  }

  // How much slower the card's crystal is than the clock, by least squares; 0 if it was not heard
  // for long.
  private var slowness: Double {
    guard looks.count > 10 else { return 0 }
    let count = Double(looks.count)
    let middle = looks.reduce(0) { $0 + Double($1.sample) } / count
    let mean = looks.reduce(0) { $0 + Double($1.origin) } / count
    var (spread, common) = (0.0, 0.0)
    for look in looks {
      let away = Double(look.sample) - middle
      spread += away * away
      common += away * (Double(look.origin) - mean)
    }
    return max(-0.001, min(0.001, common / spread))
  }

  // The least late readings tell when each sample was heard.
  private mutating func settle() {
    let slowness = slowness
    let origin = looks.map { Double($0.origin) - slowness * Double($0.sample) }.min() ?? 0
    let places = Int(Double(samples.count) * (1 + slowness))
    for offset in 0..<max(0, places) {
      let (place, sample) = (Int(origin) + offset, Int(Double(offset) / (1 + slowness)))
      if heard.indices.contains(place), sample < samples.count { heard[place] += samples[sample] }
    }
    samples.removeAll(keepingCapacity: true)
    looks = []
  }
}
