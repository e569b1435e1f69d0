package import ProgramRig

/// This repository's program.
package struct SidetoneProgram: CallProgram {
  /// The program with its options.
  package let name: String
  /// What brings it.
  package let package = "sidetone (make build)"
  /// Where it is.
  package let executable: String
  /// What it says of itself on the command line.
  private let options: [String]

  /// The program at that path; without a packet duration (in ms) packets follow the network.
  package init(_ executable: String, frame: Double? = nil, bitrate: Int? = nil, period: Int? = nil)
  {
    self.executable = executable
    var options: [String] = []
    if let frame {
      options += ["--frame", frame == frame.rounded() ? "\(Int(frame))" : "\(frame)"]
    }
    if let bitrate { options += ["--bitrate", "\(bitrate)"] }
    if let period { options += ["--period", "\(period)"] }
    self.options = options
    name = (["sidetone"] + options).joined(separator: " ")
  }

  /// Answers at once.
  package func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] {
    [
      Invocation(
        executable,
        ["listen", "--answer", "--listen", "\(end.host):\(end.port)", "--headset", end.headset]
          + ["--rtp-port", "\(end.mediaPort)", "--json"] + options,
        readiness: "registered"
      )
    ]
  }

  /// Calls the far side.
  package func calling(_ end: CallEnd, to far: CallEnd) -> [Invocation] {
    let target = "sip:b@\(far.host):\(far.port)"
    return [
      Invocation(
        executable,
        ["call", target, "--listen", "\(end.host):\(end.port)", "--headset", end.headset]
          + ["--json"] + options
      )
    ]
  }
}
