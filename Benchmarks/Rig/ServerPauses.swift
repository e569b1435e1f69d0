import Foundation
import MediaCore
import ProgramRig

/// Pauses of a sound server, as on a machine that gives it no time: all headsets stand still at
/// once, while the programs run on.
///
/// **Thread safety:** one thread at a time.
final class ServerPauses {
  private let ending = DispatchSemaphore(value: 0)
  private let ended = DispatchSemaphore(value: 0)

  /// Begins to stop `server`, `perMinute` times a minute, rounded up, at random moments of
  /// `seconds`, for 3 to 20 ms each.
  init(of server: JackServer, perMinute: Int, seconds: Int, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let pauses = (0..<(perMinute * seconds + 59) / 60).map { _ in
      (
        begin: Double.random(in: 0..<Double(seconds), using: &random),
        length: Double.random(in: 0.003...0.02, using: &random)
      )
    }
    .sorted { $0.begin < $1.begin }
    let process = server.processIdentifier
    let began = DispatchTime.now()
    Thread.detachNewThread { [ending, ended] in
      for pause in pauses {
        guard ending.wait(timeout: began + pause.begin) == .timedOut else { break }
        kill(process, SIGSTOP)
        Thread.sleep(forTimeInterval: pause.length)
        kill(process, SIGCONT)
      }
      ended.signal()
    }
  }

  /// Ends the pauses, once, and leaves the server running.
  func stop() {
    ending.signal()
    ended.wait()
  }
}
