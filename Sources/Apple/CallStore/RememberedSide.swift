/// A side of a headset; the raw value is the name under which its selected device is stored.
package enum RememberedSide: String, CaseIterable, Sendable {
  /// The microphone's side.
  case microphone
  /// The loudspeaker's side.
  case loudspeaker
}
