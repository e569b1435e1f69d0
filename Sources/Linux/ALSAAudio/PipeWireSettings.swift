/// Settings of PipeWire's graph, from the lines of `pw-metadata`.
struct PipeWireSettings {
  private var values: [Substring: Int64] = [:]

  /// No settings.
  init() {}

  /// The settings in the output of `pw-metadata -n settings 0`.
  init(_ text: some StringProtocol) {
    for line in text.split(separator: "\n") { note(line) }
  }

  /// Takes in a line, which names a key and its value between apostrophes; ignores others.
  mutating func note(_ line: some StringProtocol) {
    let fields = Substring(line).split(separator: "'", omittingEmptySubsequences: false)
    guard fields.count > 3, let value = Int64(fields[3]), (0...1_000_000).contains(value) else {
      return
    }
    values[Substring(String(fields[1]))] = value
  }

  /// The shortest cycle that the server grants whatever is asked for, in nanoseconds; 0 while the
  /// settings do not say.
  ///
  /// Rounded up, so that its conversion back to frames gives the same number.
  var leastCycle: Int64 {
    guard let forced = self["force-quantum"], let least = self["min-quantum"],
      let usual = self["rate"], let other = self["force-rate"]
    else { return 0 }
    let rate = other > 0 ? other : usual
    guard rate > 0 else { return 0 }
    return ((forced > 0 ? forced : least) * 1_000_000_000 + rate - 1) / rate
  }

  private subscript(name: String) -> Int64? { values["clock.\(name)"[...]] }
}
