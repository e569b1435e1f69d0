import ProgramRig
import Rig

/// Pass-through by ALSA instead of a call, whose delay is that of ALSA and of the rig alone.
///
/// Samples from each microphone go to the other side's loudspeaker, a period at a time, with two
/// periods queued.
struct RawALSAProgram: CallProgram {
  let name = "raw ALSA pass-through"
  let package = "make bench"
  let executable: String

  /// Creates a pass-through by the program `alsa-pass-through` at that path.
  init(_ executable: String) {
    self.executable = executable
  }

  func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] {
    [Invocation(executable, [end.headset, far.headset])]
  }

  func calling(_ end: CallEnd, to far: CallEnd) -> [Invocation] {
    [Invocation(executable, [end.headset, far.headset])]
  }
}
