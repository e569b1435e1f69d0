import ProgramRig
import Rig

/// trx 0.5: a sender and a receiver of Opus over RTP at each end, no signalling.
struct TrxProgram: CallProgram {
  let name: String
  let package = "trx"
  let executable = "/usr/bin/trx-tx"
  private let sending: [String]
  private let receiving: [String]

  /// Creates trx with packets of `frame` frames at 48 kHz, a sound card's buffer of `buffer` and a
  /// jitter buffer of `jitter` milliseconds, and a bit rate of `kilobits` kbit/s.
  init(frame: Int, buffer: Int, jitter: Int, kilobits: Int) {
    name = "trx -f \(frame) -m \(buffer) -j \(jitter) -b \(kilobits)"
    sending = ["-c", "1", "-f", "\(frame)", "-m", "\(buffer)", "-b", "\(kilobits)"]
    receiving = ["-c", "1", "-m", "\(buffer)", "-j", "\(jitter)"]
  }

  func answering(_ end: CallEnd, from far: CallEnd) -> [Invocation] { both(end, far) }

  func calling(_ end: CallEnd, to far: CallEnd) -> [Invocation] { both(end, far) }

  private func both(_ end: CallEnd, _ far: CallEnd) -> [Invocation] {
    [
      Invocation(
        "trx-rx",
        ["-d", end.headset, "-h", end.host, "-p", "\(end.port)"] + receiving
      ),
      Invocation("trx-tx", ["-d", end.headset, "-h", far.host, "-p", "\(far.port)"] + sending),
    ]
  }
}
