import MediaCore
import DeviceTiming
import RealTime
import SpeechDSP

/// Sides of a device to take the place of the current ones, and afterwards the sides that were
/// replaced.
///
/// They are opened, started, and have the resamplers for their rates, so that the voice thread only
/// exchanges them.
///
/// **Thread safety:** made and released by the engine's owner; between the command and `done` it
/// belongs to the voice thread.
final class DeviceReplacement<Device: AudioDevice & ~Copyable> {
  let sides: StreamDirections
  let fill: PlaybackLevel
  /// Event that is signalled once the sides are exchanged.
  let done: WakeEvent
  var device: Device
  var captureResampler: FixedRateResampler?
  var playbackResampler: FixedRateResampler?

  /// Starts `device`, of which only `sides` are used.
  init(_ sides: StreamDirections, with device: consuming Device) throws {
    done = try WakeEvent()
    let fill = PlaybackLevel(device)
    let captureResampler = try CaptureChain.resampler(from: device.captureRate)
    let playbackResampler = try PlaybackChain.resampler(to: device.playbackRate)
    try device.start(fill: fill.goal)
    self.sides = sides
    self.fill = fill
    self.captureResampler = captureResampler
    self.playbackResampler = playbackResampler
    self.device = device
  }
}

// SAFETY: one owner at a time, as said above; the command and `done` order the two threads.
extension DeviceReplacement: @unchecked Sendable where Device: ~Copyable {}

extension PlaybackLevel {
  /// Creates the fill control of that device.
  init(_ device: borrowing some AudioDevice & ~Copyable) {
    self.init(
      period: device.playbackPeriod,
      capacity: device.playbackCapacity,
      rate: device.playbackRate
    )
  }
}
