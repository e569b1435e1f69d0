import Rig

/// This repository's program.
struct SidetoneProgram: CallProgram {
  let name: String
  let package = "sidetone (make build)"
  let executable: String
  private let options: [String]

  /// The program at that path with options of both `call` and `listen`.
  init(_ executable: String, options: [String] = []) {
    self.executable = executable
    self.options = options
    name = (["sidetone"] + options).joined(separator: " ")
  }

  func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] {
    [
      Invocation(
        executable,
        ["listen", "--answer", "--listen", "\(end.host):\(end.port)", "--headset", end.headset]
          + ["--json"] + options,
        readiness: "registered"
      )
    ]
  }

  func calling(_ end: CallEnd, to far: CallEnd) -> [Invocation] {
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
