/// Rules for the parts of a card's profile that a call switches on.
///
/// A namespace of rules without I/O; names as in ALSA's `use-case.h`.
enum ProfilePlan {
  /// A device in the sense of a card's profile: a jack, a loudspeaker, a microphone.
  struct Port: Equatable, Sendable {
    let name: String
    /// The PCM that reaches it on the side in question; nil if it has no such side.
    let pcm: String?
    /// True if a plug is in its jack; nil if unknown.
    var isPlugged: Bool?
  }

  /// The use case for a call: `Voice Call IP`, else `HiFi`, else the first of `verbs`; nil without
  /// any.
  static func verb(among verbs: [String]) -> String? {
    ["Voice Call IP", "HiFi"].first(where: verbs.contains) ?? verbs.first
  }

  /// The port to use with a PCM of a card, by the PCM's number; nil if that reaches none.
  ///
  /// A headset comes before built-in ports, and ports with an empty jack are left out.
  static func port(among ports: [Port], device: String, of card: SoundCard) -> Port? {
    let usable = ports.filter { port in
      guard port.isPlugged != false, let name = port.pcm.flatMap(name(of:)) else { return false }
      return name.device == device && name.card(among: [card]) != nil
    }
    let ranks = usable.map(rank(of:))
    return usable.indices.min { (ranks[$0], $0) < (ranks[$1], $1) }.map { usable[$0] }
  }

  // Private names of alsa-lib have a prefix: `_ucm0001.hw:PCH,3`.
  private static func name(of pcm: String) -> CardName? {
    let name = pcm.hasPrefix("_ucm") ? pcm.drop { $0 != "." }.dropFirst() : pcm[...]
    return CardName(.pcm(String(name)))
  }

  private static func rank(of port: Port) -> Int {
    let name = port.name.lowercased()
    let kinds = ["headset", "headphone", "mic", "speaker", "line"]
    let rank = kinds.firstIndex { name.contains($0) } ?? kinds.count
    return port.isPlugged == true ? rank : rank + kinds.count + 1
  }
}
