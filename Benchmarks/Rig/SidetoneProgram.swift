import MediaCore
package import VoiceEngine

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
  private let packetFrames: FrameCount?
  /// False if it asks the card for another period than the rig's.
  package let isSimulable: Bool
  private let bitrate: Int?

  /// The program at that path; without a packet duration (in ms) packets follow the network.
  package init(_ executable: String, frame: Double? = nil, bitrate: Int? = nil, period: Int? = nil)
  {
    self.executable = executable
    self.bitrate = bitrate
    isSimulable = period == nil
    packetFrames = frame.map { FrameCount($0 * 48) }
    var options: [String] = []
    if let frame {
      options += ["--frame", frame == frame.rounded() ? "\(Int(frame))" : "\(frame)"]
    }
    if let bitrate { options += ["--bitrate", "\(bitrate)"] }
    if let period { options += ["--period", "\(period)"] }
    self.options = options
    name = (["sidetone"] + options).joined(separator: " ")
  }

  /// The stream that it agrees on with another of its kind.
  package var stream: StreamConfiguration {
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1, withCopies: true)
    configuration.adaptsPackets = packetFrames == nil && bitrate == nil
    configuration.packetFrames = packetFrames ?? configuration.packetFrames
    configuration.bitrate = bitrate ?? configuration.bitrate
    return configuration
  }

  /// Answers at once.
  package func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] {
    [
      Invocation(
        executable,
        ["listen", "--answer", "--listen", "\(end.host):\(end.port)", "--headset", end.headset]
          + ["--json"] + options,
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
