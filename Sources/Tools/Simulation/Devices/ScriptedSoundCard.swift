package import MediaCore
import RealTime

/// Sound card of a headset in virtual time: its oscillators, its sound in both directions, and its
/// faults.
///
/// **Thread safety:** one thread at a time.
package final class ScriptedSoundCard {
  /// Properties of a card, and the faults to come.
  package struct Script: Sendable {
    /// Deviation of the microphone's crystal in parts per million, positive if it is too fast.
    package var captureDrift = 0
    /// Deviation of the loudspeaker's crystal in parts per million, positive if it is too fast.
    package var playbackDrift = 0
    /// Nominal rate of both directions.
    package var rate = SampleRate.voice
    /// Frames per period in both directions.
    package var period: FrameCount = 120
    /// True if the loudspeaker takes whole periods at once, as a sound server does, and not frame
    /// by frame.
    package var takesBlocks = false
    /// Faults of the card, in order of time.
    package var faults: [DeviceFault] = []
    /// Sound of the microphone at `rate`, repeated without end; silence if empty.
    package var sound: [Float] = []
    /// True if the loudspeaker's sound is kept in `heard`.
    package var isRecorded = true

    /// Creates the script of a faultless card in a silent room.
    package init() {}
  }

  static let capacity: FrameCount = 4_800

  /// Sound played, from the first frame on, at the loudspeaker's rate.
  package private(set) var heard: [Float] = []

  let script: Script
  private let time: VirtualTime
  private let captureCrystal: Oscillator
  private let playbackCrystal: Oscillator
  /// Standstills since both sides were last opened; during earlier ones the card counts as running.
  private var standstills: [Standstill]
  private let absences: [DeviceFault]
  private var begin: MonotonicInstant?
  /// Time at which the card was last opened, in nanoseconds since its first start.
  private var opened: Int64 = 0
  /// First frame of the microphone since then, from which periods count.
  private var firstFrame: Int64 = 0
  private var read: Int64 = 0
  private(set) var written: Int64 = 0

  /// Creates a card that has not been started.
  package init(_ script: Script, time: VirtualTime) {
    self.script = script
    self.time = time
    captureCrystal = Oscillator(script.rate, partsPerMillion: script.captureDrift)
    playbackCrystal = Oscillator(script.rate, partsPerMillion: script.playbackDrift)
    standstills = Self.standstills(of: script, by: captureCrystal, endingAfter: 0)
    absences = script.faults.filter { $0.kind == .unplugged }
  }

  // MARK: Time

  /// A time in which the card does not run.
  private struct Standstill {
    var at: Int64
    var end: Int64
    /// Time in nanoseconds by which the card jumps ahead when the standstill ends; 0 for none.
    var leap: Int64 = 0
  }

  private static func standstills(
    of script: Script,
    by crystal: Oscillator,
    endingAfter begin: Int64
  ) -> [Standstill] {
    // Those that overlap are one.
    let faults = script.faults
      .filter { ($0.kind == .suspended || $0.kind == .starved) && $0.end > begin }
      .sorted { $0.at < $1.at }
      .reduce(into: [DeviceFault]()) { merged, fault in
        guard let last = merged.last, fault.at <= last.end else { return merged.append(fault) }
        merged[merged.count - 1].duration = max(last.end, fault.end) - last.at
      }
    let period = Int64(max(1, script.period))
    var lost: Int64 = 0
    return faults.map { fault in
      var standstill = Standstill(at: fault.at, end: fault.end)
      if fault.kind == .starved {
        // The cycle that is due, and the one after it.
        let cycles = crystal.frames(in: fault.at - lost) / period + 2
        let leap = crystal.nanoseconds(of: cycles * period) - (fault.at - lost)
        standstill.leap = min(fault.duration, leap)
      }
      lost += fault.duration - standstill.leap
      return standstill
    }
  }

  /// Returns the nanoseconds for which the card has run at `instant`.
  private func running(at instant: MonotonicInstant) -> Int64 {
    guard let begin else { return 0 }
    let passed = instant.nanoseconds(since: begin)
    return standstills.reduce(passed) { running, standstill in
      guard passed >= standstill.end else { return running - max(0, passed - standstill.at) }
      return running - (standstill.end - standstill.at - standstill.leap)
    }
  }

  /// Returns the time at which the card has run for `nanoseconds`.
  private func instant(afterRunning nanoseconds: Int64) -> MonotonicInstant {
    var passed = nanoseconds
    for standstill in standstills where standstill.at < passed {
      let later = passed + standstill.end - standstill.at - standstill.leap
      passed = max(standstill.end, later)
    }
    return (begin ?? time.now).advanced(byNanoseconds: passed)
  }

  /// Sides that were unplugged since the card was last opened, or are unplugged now.
  var goneSides: StreamDirections {
    absences.filter { $0.at <= passed && ($0.at >= opened || passed < $0.end) }
      .reduce(into: []) { $0.formUnion($1.sides) }
  }

  /// Sides that are unplugged now.
  var absentSides: StreamDirections {
    absences.filter { $0.at <= passed && passed < $0.end }
      .reduce(into: []) { $0.formUnion($1.sides) }
  }

  private var passed: Int64 { begin.map { time.now.nanoseconds(since: $0) } ?? 0 }

  /// Time at which the microphone has the next period after the frames read; nil while it is gone.
  package var nextPeriod: MonotonicInstant? {
    guard !goneSides.contains(.capture) else { return nil }
    let period = Int64(script.period)
    let next = firstFrame + ((read - firstFrame) / period + 1) * period
    return instant(afterRunning: captureCrystal.nanoseconds(of: next))
  }

  /// Converts a number of frames at the voice's rate to the card's rate.
  func frames(ofVoice frames: Int64) -> Int64 {
    frames * Int64(script.rate.hertz) / Int64(SampleRate.voice.hertz)
  }

  /// Returns the time at which frame `frame` of the microphone was captured.
  func instant(ofCaptured frame: Int64) -> MonotonicInstant {
    instant(afterRunning: captureCrystal.nanoseconds(of: frame))
  }

  /// Returns the time at which frame `frame` of those written is played.
  func instant(ofPlayed frame: Int64) -> MonotonicInstant {
    instant(afterRunning: playbackCrystal.nanoseconds(of: frame))
  }

  // MARK: Sound

  // Its crystals run on while it is unplugged: what it would have captured and played counts.
  func start(_ sides: StreamDirections, fill: FrameCount) {
    if begin == nil { begin = time.now }
    opened = passed
    if sides == .both {
      standstills = Self.standstills(of: script, by: captureCrystal, endingAfter: opened)
    }
    if sides.contains(.capture) {
      firstFrame = captureCrystal.frames(in: running(at: time.now))
      read = firstFrame
    }
    if sides.contains(.playback) { record(silence: max(0, sounded - written) + Int64(fill)) }
  }

  func read(into block: inout SampleBuffer) -> DeviceTransfer {
    guard !goneSides.contains(.capture) else { return DeviceTransfer(frames: 0, isGone: true) }
    let ready = sampled
    // A ring that overflows is begun anew: all that was in it is lost.
    if ready - read > Int64(Self.capacity) {
      let lost = ready - read
      read = ready
      return DeviceTransfer(frames: 0, lost: Int(lost))
    }
    let frames = min(block.count, max(0, Int(ready - read)))
    let count = script.sound.count
    var place = count == 0 ? 0 : Int(read % Int64(count))
    for index in 0..<frames {
      guard count > 0 else {
        block[index] = 0
        continue
      }
      block[index] = script.sound[place]
      place = place + 1 == count ? 0 : place + 1
    }
    read += Int64(frames)
    return DeviceTransfer(frames: frames)
  }

  /// Number of the microphone's frames up to the last whole period, since the first start.
  private var sampled: Int64 {
    let frames = captureCrystal.frames(in: running(at: time.now)) - firstFrame
    return firstFrame + frames / Int64(script.period) * Int64(script.period)
  }

  var pendingFrames: FrameCount {
    Int(max(0, captureCrystal.frames(in: running(at: time.now)) - read))
  }

  /// Number of frames that the loudspeaker has taken.
  private var sounded: Int64 {
    let frames = playbackCrystal.frames(in: running(at: time.now))
    guard script.takesBlocks else { return frames }
    let period = Int64(script.period)
    return (frames / period + 1) * period
  }

  var queuedFrames: FrameCount { Int(max(0, written - sounded)) }

  func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer {
    guard !goneSides.contains(.playback) else { return DeviceTransfer(frames: 0, isGone: true) }
    let late = max(0, sounded - written)
    record(silence: late)
    let frames = max(0, min(count, Self.capacity - queuedFrames))
    if script.isRecorded { for index in 0..<frames { heard.append(block[index]) } }
    written += Int64(frames)
    return DeviceTransfer(frames: frames, lost: Int(late))
  }

  private func record(silence frames: Int64) {
    if script.isRecorded { heard.append(contentsOf: repeatElement(0, count: Int(frames))) }
    written += frames
  }
}
