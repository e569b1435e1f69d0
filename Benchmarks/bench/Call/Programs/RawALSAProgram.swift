import ProgramRig
import Rig

/// No call at all: what is left of the delay is ALSA's and the rig's own.
///
/// Samples from each microphone go to the other side's loudspeaker, a period at a time, with two
/// periods queued.
struct RawALSAProgram: CallProgram {
  let name = "raw ALSA pass-through"
  let package = "make bench"
  let executable: String

  /// The program `alsa-pass-through` at that path.
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
