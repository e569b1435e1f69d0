/// A side of a headset, by the name under which its choice is kept.
package enum RememberedSide: String, CaseIterable, Sendable {
  /// What the user speaks into.
  case microphone
  /// What the user hears.
  case loudspeaker
}
