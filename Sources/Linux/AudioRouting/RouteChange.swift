package import ALSAAudio
import MediaCore
import RealTime

/// A change of devices: what was in use before, and what is now.
package struct RouteChange: Sendable {
  /// Why the devices have changed.
  package enum Reason: Equatable, Sendable {
    /// A device was plugged in, or answers again.
    case newDevice
    /// A device has gone, or does not work.
    case deviceLost
    /// The app wishes for other devices.
    case newWish
  }

  package let before: RoutePlan.Route
  package let after: RoutePlan.Route
  /// What the cards in use are known by.
  package let identities: KnownCards
  package let reason: Reason
  package let granted: GrantedFormat
}

/// What the devices have granted: the microphone's rate in hertz, and the loudspeaker's period in
/// seconds.
package struct GrantedFormat: Sendable {
  package var sampleRate = 48_000.0
  package var bufferDuration = 0.0025

  /// What is assumed before there are devices.
  package init() {}

  /// What an open headset has granted.
  package init(_ headset: borrowing Headset) { note(.both, of: headset) }

  mutating func note(_ sides: StreamDirections, of headset: borrowing Headset) {
    if sides.contains(.capture) { sampleRate = Double(headset.captureRate.hertz) }
    guard sides.contains(.playback) else { return }
    bufferDuration = Double(headset.playbackPeriod) / Double(headset.playbackRate.hertz)
  }
}
