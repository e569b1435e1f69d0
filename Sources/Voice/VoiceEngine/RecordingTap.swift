import Foundation
import MediaCore
import RealTime

/// Recorder of the sound of one stream, both the user's and the far side's, on the voice thread.
///
/// While it is in use the far side hears a tone at intervals, as law and custom demand of recorded
/// calls. While nothing is sent to the far side, as during its hold or without a microphone, its
/// voice is recorded as silence: there is no recording without the tone.
///
/// **Ownership:** `VoiceStreams` keeps it until the loop has released its stream.
final class RecordingTap {
  // SAFETY: the voice thread's alone, and nothing here calls back into it.
  @safe @exclusivity(unchecked) private var said: RingProducer<Float>
  @safe @exclusivity(unchecked) private var heard: RingProducer<Float>
  @safe @exclusivity(unchecked) private var tone = RecordingTone()

  /// Capacity of each ring in frames, ten seconds: a disk stalls for less.
  static let capacity = 480_000

  private var heardSinceSent = RecordingTone.graceFrames

  /// Creates a tap that writes to these rings.
  init(said: consuming RingProducer<Float>, heard: consuming RingProducer<Float>) {
    self.said = said
    self.heard = heard
  }

  /// Makes the next sound sent begin with the tone.
  @_noAllocation @_noLocks
  func begin() {
    tone.restart()
    heardSinceSent = RecordingTone.graceFrames
  }

  // A full ring cuts the recording short, not the call.

  /// Adds the tone to the user's sound before it is sent, and records both; if `isSent` is false,
  /// records silence.
  @_noAllocation @_noLocks
  func noteSaid(_ samples: inout SampleBuffer, count: FrameCount, isSent: Bool) {
    guard isSent else {
      tone.interrupt()
      return noteSaid(silence: count)
    }
    tone.add(to: &samples, count: count)
    _ = said.write(samples, count: count)
    heardSinceSent = 0
  }

  /// Records `frames` lost in a fault of the microphone, as silence.
  @_noAllocation @_noLocks
  func noteSaid(silence frames: FrameCount) { _ = said.write(repeating: 0, count: frames) }

  /// Records sound of the far side.
  @_noAllocation @_noLocks
  func noteHeard(_ samples: borrowing SampleBuffer, count: FrameCount) {
    guard heardSinceSent < RecordingTone.graceFrames else { return noteHeard(silence: count) }
    heardSinceSent += count
    _ = heard.write(samples, count: count)
  }

  /// Records `frames` of silence in the far side's track, after an underrun or while nothing is
  /// sent.
  @_noAllocation @_noLocks
  func noteHeard(silence frames: FrameCount) { _ = heard.write(repeating: 0, count: frames) }
}

// SAFETY: handed to the voice thread through the command ring; only that thread calls it.
extension RecordingTap: @unchecked Sendable {}

/// Tone by which a recording announces itself: 1,400 Hz for 200 ms, at once and then each 15 s.
///
/// It is the beep of 47 CFR 64.501: 1,260 to 1,540 Hz, 170 to 250 ms, each 12 to 18 s.
struct RecordingTone: ~Copyable {
  /// Frequency of the tone.
  static let hertz = 1_400.0
  static let toneFrames = 9_600
  static let intervalFrames = 720_000
  /// Number of frames of the far side that are recorded after the last one sent to it, half a
  /// second.
  ///
  /// The two directions take turns, and DTMF digits interrupt the voice.
  static let graceFrames = 24_000
  /// Amplitude of the tone, 20 dB below full scale: audible beside a voice, without covering it.
  private static let amplitude = 0.1
  /// Length of the ramps, 5 ms at 48 kHz, which avoid clicks.
  private static let rampFrames = 240

  private var tone = SampleBuffer(
    (0..<toneFrames).map { frame in
      let edge = min(frame, toneFrames - 1 - frame)
      let gain = min(1, Double(edge) / Double(rampFrames))
      return Float(amplitude * gain * sin(2 * .pi * hertz * Double(frame) / 48_000))
    }
  )
  private var position = 0

  /// Starts again with the tone.
  @_noAllocation @_noLocks
  mutating func restart() { position = 0 }

  /// Notes that nothing is sent for a while: a tone that was cut short is due again.
  @_noAllocation @_noLocks
  mutating func interrupt() {
    if position < Self.toneFrames { position = 0 }
  }

  /// Adds the part of the tone that is due to frames that follow those of the last call.
  @_noAllocation @_noLocks
  mutating func add(to samples: inout SampleBuffer, count: FrameCount) {
    for index in 0..<count {
      if position < Self.toneFrames { samples[index] += tone[position] }
      position += 1
      if position == Self.intervalFrames { position = 0 }
    }
  }
}
