import RealTime

/// Changes that a call makes to a sound card's mixer: only to controls that were never set up and
/// would keep it silent.
///
/// A switch that is off is the user's mute, unless the level is at the bottom as well, as on a card
/// that was never used. A value without I/O.
struct MixerPlan: Equatable, Sendable {
  /// One control of a mixer, on the side of the microphone or of the loudspeaker.
  struct Control: Equatable, Sendable {
    let name: String
    /// Number that tells controls of one name apart.
    var index: UInt32 = 0
    let side: StreamDirections
    /// True if its switch is on; nil if it has none.
    var isOn: Bool?
    /// True if its switch chooses one input of several.
    var isChoice = false
    /// Its volume, from 0 to 1 of its range; nil if it has none.
    var level: Double?
    /// Level at which sound passes unchanged, from 0 to 1 of its range; nil if the control does not
    /// give it.
    var neutralLevel: Double?
  }

  /// A change to one control.
  enum Change: Equatable, Sendable {
    case turnOn(Control)
    case raise(Control, to: Double)

    var control: Control {
      switch self {
      case .turnOn(let control), .raise(let control, _): control
      }
    }
  }

  /// Share of its range below which a control is inaudible.
  private static let silentLevel = 0.02
  /// Level to raise a control to: loud enough to be audible, and not to startle.
  private static let audibleLevel = 2.0 / 3

  let changes: [Change]

  /// The changes to make before one side of a card is used.
  init(for side: StreamDirections, controls: [Control]) {
    let own = controls.filter { $0.side == side && Self.matters($0, among: controls) }
    var hasChoice = controls.contains { $0.side == side && $0.isChoice && $0.isOn == true }
    var changes: [Change] = []
    for control in own where (control.level ?? 1) < Self.silentLevel {
      // Of several inputs there is one.
      if control.isChoice, control.isOn == false {
        if hasChoice { continue }
        hasChoice = true
      }
      if control.isOn == false { changes.append(.turnOn(control)) }
      let neutral = side == .capture ? control.neutralLevel : nil
      changes.append(.raise(control, to: neutral ?? Self.audibleLevel))
    }
    self.changes = changes
  }

  // What cards call the way of a voice; the rest is music's, or lets users hear themselves.
  private static func matters(_ control: Control, among controls: [Control]) -> Bool {
    let name = control.name.lowercased()
    guard !name.contains("boost") else { return false }
    if control.side == .capture {
      return ["mic", "capture", "headset"].contains { name.contains($0) }
    }
    // Loudspeakers that are off while there are headphones are off on purpose.
    let hasHeadphones = controls.contains { $0.name.lowercased().contains("headphone") }
    if name.contains("speaker") { return !hasHeadphones }
    let ways = ["master", "pcm", "headset", "headphone", "front"]
    return ways.contains { name.contains($0) } && !name.contains("mic")
  }
}
