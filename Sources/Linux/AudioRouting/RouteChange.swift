package import ALSAAudio
import MediaCore
import RealTime

/// A change of devices: the routes before and after, and the reason.
package struct RouteChange: Sendable {
  /// The reason for a change of devices.
  package enum Reason: Equatable, Sendable {
    /// A device was plugged in, or answers again.
    case newDevice
    /// A device has gone, or does not work.
    case deviceLost
    /// The app has selected other devices.
    case newWish
  }

  package let before: RoutePlan.Route
  package let after: RoutePlan.Route
  /// Identities of the wanted cards, and devices on no card that have been open.
  package let identities: KnownCards
  package let reason: Reason
  package let granted: GrantedFormat
}

/// Values granted by the devices: the microphone's rate in hertz, and the loudspeaker's period in
/// seconds.
package struct GrantedFormat: Sendable {
  package var sampleRate = 48_000.0
  package var bufferDuration = 0.0025
  /// Sides whose period follows the cycle of PipeWire's graph.
  var sidesOfPipeWire: StreamDirections = []

  /// The values assumed before there are devices: 48 kHz and 2.5 ms.
  package init() {}

  /// The values that an open headset was granted.
  package init(_ headset: borrowing Headset) { note(.both, of: headset) }

  mutating func note(_ sides: StreamDirections, of headset: borrowing Headset) {
    sidesOfPipeWire.subtract(sides)
    sidesOfPipeWire.formUnion(headset.sidesOfPipeWire.intersection(sides))
    if sides.contains(.capture) { sampleRate = Double(headset.captureRate.hertz) }
    guard sides.contains(.playback) else { return }
    bufferDuration = Double(headset.playbackPeriod) / Double(headset.playbackRate.hertz)
  }
}
