import CTerminal
import Foundation
import Localization
import RealTime

/// Asks for passwords on the terminal, or reads them from standard input.
///
/// **Life cycle:** until `end`, SIGINT, SIGTERM and SIGQUIT end the question instead of the
/// program, so that the terminal's echo is restored; SIGTSTP has no effect. Only one per process,
/// as for its `SignalSources`.
struct PasswordPrompt {
  private let terminal = Terminal()
  private let interrupt: WakeEvent
  private let numbers: [CInt]
  private let signals: [SignalSources]

  /// Creates a prompt that takes over the signals by which a user ends or stops a program.
  init() throws(SystemError) {
    let interrupt = try WakeEvent()
    self.interrupt = interrupt
    // A pipe shows nothing, and has nothing to give back.
    let isTerminal = isatty(STDIN_FILENO) == 1
    func taken(_ all: [CInt]) -> [CInt] {
      isTerminal ? all.filter { !signal_is_ignored($0) } : []
    }
    let (endings, stops) = (taken([SIGINT, SIGTERM, SIGQUIT]), taken([SIGTSTP]))
    numbers = endings + stops
    signals = [SignalSources(endings) { interrupt.signal() }, SignalSources(stops) {}]
  }

  /// Asks for the password of a login; throws if none is given.
  func password(of login: String) throws(CommandFailure) -> String {
    terminal.ask(String(localized: "Password of \(login): "))
    guard let password = terminal.readSecret(until: interrupt), !password.isEmpty else {
      throw CommandFailure("an account needs a password")
    }
    return password
  }

  /// Restores the signals' default actions, so that a wait for the keyring can be interrupted.
  func end() {
    for source in signals { source.cancel() }
    for number in numbers { signal(number, SIG_DFL) }
  }
}
