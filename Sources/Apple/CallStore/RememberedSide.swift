/// A side of a headset, by the name under which its choice is kept.
package enum RememberedSide: String, CaseIterable, Sendable {
  /// The microphone's side.
  case microphone
  /// The loudspeaker's side.
  case loudspeaker
}
