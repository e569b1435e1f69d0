import Foundation
import ProgramRig
import Rig

/// WebRTC itself, in Debian's Chromium without a window.
struct ChromiumProgram: CallProgram {
  let name = "WebRTC in Chromium"
  let package = "chromium"
  let executable = "/usr/bin/chromium"
  let needsAllProcessors = true
  private let driver: String

  /// Creates a browser at each end, driven by the script `call.py` in `folder`.
  init(drivenFrom folder: URL) {
    driver = folder.appendingPathComponent("call.py").path
  }

  func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] {
    [invocation("answer", end, readiness: "ready")]
  }

  func calling(_ end: CallEnd, to far: CallEnd) -> [Invocation] {
    [invocation("call", end, readiness: "connected")]
  }

  private func invocation(_ role: String, _ end: CallEnd, readiness: String) -> Invocation {
    Invocation("python3", [driver, role, end.headset, end.folder.path], readiness: readiness)
  }
}
