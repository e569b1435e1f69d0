package import ProgramRig

/// This repository's program, `sidetone`.
package struct SidetoneProgram: CallProgram {
  /// Name in the tables: the program with its options.
  package let name: String
  /// Package to install, with the command that builds it.
  package let package = "sidetone (make build)"
  /// Path of the executable.
  package let executable: String
  /// Options of packet duration, bit rate and device period, for the command line.
  private let options: [String]

  /// Creates the program at the path `executable`.
  ///
  /// `frame` is the packet duration in milliseconds, nil to let packets follow the network;
  /// `bitrate` is in bit/s, and `period`, the device's, in milliseconds.
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

  /// Returns the command that answers at once.
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

  /// Returns the command that calls the far side.
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
