import Foundation
import MediaCore
import RealTime

/// Where a recording takes the sound of one stream: what the user says, and what the far side says.
///
/// While it is in use the far side hears a tone now and then, as law and custom ask of recorded
/// calls. Where nothing goes to the far side, as while it holds the call or the microphone is gone,
/// what it says is recorded as silence: there is no recording without the tone.
///
/// **Ownership:** `VoiceStreams` keeps it until the loop has released its stream.
final class RecordingTap {
  // SAFETY: the voice thread's alone, and nothing here calls back into it.
  @safe @exclusivity(unchecked) private var said: RingProducer<Float>
  @safe @exclusivity(unchecked) private var heard: RingProducer<Float>
  @safe @exclusivity(unchecked) private var tone = RecordingTone()

  /// Ten seconds: a disk stalls for less.
  static let capacity = 480_000

  private var heardSinceSent = RecordingTone.graceFrames

  /// A tap that writes to these rings.
  init(said: consuming RingProducer<Float>, heard: consuming RingProducer<Float>) {
    self.said = said
    self.heard = heard
  }

  /// Lets the next thing that is sent begin with the tone.
  @_noAllocation @_noLocks
  func begin() {
    tone.restart()
    heardSinceSent = RecordingTone.graceFrames
  }

  // A full ring cuts the recording short, not the call.

  /// Adds the tone to what is about to be sent, and records that; silence if it is not sent.
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

  /// Records frames that a fault of the microphone swallowed, as silence.
  @_noAllocation @_noLocks
  func noteSaid(silence frames: FrameCount) { _ = said.write(repeating: 0, count: frames) }

  /// Records what the far side says.
  @_noAllocation @_noLocks
  func noteHeard(_ samples: borrowing SampleBuffer, count: FrameCount) {
    guard heardSinceSent < RecordingTone.graceFrames else { return noteHeard(silence: count) }
    heardSinceSent += count
    _ = heard.write(samples, count: count)
  }

  /// Records frames for which the loudspeaker stood still, as silence.
  @_noAllocation @_noLocks
  func noteHeard(silence frames: FrameCount) { _ = heard.write(repeating: 0, count: frames) }
}

// SAFETY: handed to the voice thread through the command ring; only that thread calls it.
extension RecordingTap: @unchecked Sendable {}

/// The tone by which a recording announces itself: 1,400 Hz for 200 ms, at once and then each 15 s
/// (the beep of 47 CFR 64.501: 1,260 to 1,540 Hz, 170 to 250 ms, each 12 to 18 s).
struct RecordingTone: ~Copyable {
  /// The frequency.
  static let hertz = 1_400.0
  static let toneFrames = 9_600
  static let intervalFrames = 720_000
  /// How many frames of the far side are recorded after the last one that went to it, half a
  /// second: the two directions take turns, and keys interrupt the voice.
  static let graceFrames = 24_000
  /// 20 dB below full scale: to be heard beside a voice, and not to cover it.
  private static let amplitude = 0.1
  /// 5 ms up and down, so that it does not click.
  private static let rampFrames = 240

  private var tone = SampleBuffer(
    (0..<toneFrames).map { frame in
      let edge = min(frame, toneFrames - 1 - frame)
      let gain = min(1, Double(edge) / Double(rampFrames))
      return Float(amplitude * gain * sin(2 * .pi * hertz * Double(frame) / 48_000))
    }
  )
  private var position = 0

  /// Begins with the tone.
  @_noAllocation @_noLocks
  mutating func restart() { position = 0 }

  /// Nothing is sent for a while: a tone that was not heard to its end is due again.
  @_noAllocation @_noLocks
  mutating func interrupt() {
    if position < Self.toneFrames { position = 0 }
  }

  /// Adds what is due to frames that follow those of the last call.
  @_noAllocation @_noLocks
  mutating func add(to samples: inout SampleBuffer, count: FrameCount) {
    for index in 0..<count {
      if position < Self.toneFrames { samples[index] += tone[position] }
      position += 1
      if position == Self.intervalFrames { position = 0 }
    }
  }
}
