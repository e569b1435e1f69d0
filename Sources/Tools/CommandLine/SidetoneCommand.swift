import ALSAAudio
import ArgumentParser
import Foundation
import Localization

/// Command line of the program `sidetone`.
///
/// Names, options and exit statuses are a contract (README.md).
@main
struct SidetoneCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sidetone",
    abstract: "Headset calls between Linux machines, with the lowest delay there is.",
    discussion: HelpScreen.discussion(
      of: "",
      """
      Exit status: 0 the call happened and ended well; 2 wrong usage; 1 anything else, with one \
      line that says what to do.
      """
    ),
    version: "0.9.0",
    subcommands: [
      CheckCommand.self, DevicesCommand.self, ListenCommand.self, CallCommand.self,
      PeopleCommand.self, LoopbackCommand.self, SimulateCommand.self, OpenCommand.self,
      RecentsCommand.self, FavouritesCommand.self,
      BlockCommand.self, AccountCommand.self, IdentityCommand.self, PeersCommand.self,
      DoNotDisturbCommand.self, DirectoryCommand.self, ConfigCommand.self, CompareCommand.self,
      AnalyseCommand.self,
    ]
  )

  // The user's settings where what was typed says nothing.
  private static func setArguments() throws -> [String] {
    let typed = Array(ProcessInfo.processInfo.arguments.dropFirst())
    guard SettingCatalogue.commands.contains(typed.first ?? ""),
      !typed.contains(where: { ["-h", "--help", "--version"].contains($0) })
    else { return [] }
    let catalogue = try SettingCatalogue.ofProgram()
    return try Settings.ofUser(among: catalogue).arguments(beside: typed, among: catalogue)
  }

  // ArgumentParser would speak of unexpected arguments.
  private static func mistakenCommand(_ typed: String) -> String? {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard !typed.isEmpty, !typed.hasPrefix("-"), !(names + ["help"]).contains(typed) else {
      return nil
    }
    guard let meant = NearestName.of(typed, among: names) else {
      return String(localized: "there is no command \"\(typed)\"; sidetone --help lists them")
    }
    return String(localized: "there is no command \"\(typed)\"; did you mean \"\(meant)\"?")
  }

  // A file that is opened later would take the place of a standard stream that is closed, and what
  // is printed would be written over it.
  private static func openStandardStreams() {
    while true {
      // It takes the lowest number that is free.
      let descriptor = unsafe open("/dev/null", O_RDWR)
      guard (0...STDERR_FILENO).contains(descriptor) else {
        if descriptor >= 0 { close(descriptor) }
        return
      }
    }
  }

  /// Runs the command that was typed, with the user's settings.
  ///
  /// Wrong usage exits with 2; ArgumentParser's own code for it is 64.
  static func main() async {
    openStandardStreams()
    StreamRole.announceCalls()
    if let mistake = mistakenCommand(ProcessInfo.processInfo.arguments.dropFirst().first ?? "") {
      Terminal.printError("sidetone: \(mistake)")
      exit(withError: ExitCode(2))
    }
    var settings: [String] = []
    do {
      settings = try setArguments()
      let typed = ProcessInfo.processInfo.arguments.dropFirst()
      var command = try parseAsRoot(typed.prefix(1) + settings + typed.dropFirst())
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      // What was printed may not have been taken, as by a full disk.
      guard fflush(nil) == 0 else {
        let reason = unsafe String(cString: strerror(errno))
        throw CommandFailure(reason: "the output cannot be written: \(reason)")
      }
    } catch let status as ExitCode {
      exit(withError: status)
    } catch {
      let code = exitCode(for: error)
      let message = fullMessage(for: error)
      if code == .success {
        print(message)
        exit(withError: ExitCode.success)
      }
      Terminal.printError(code == .validationFailure ? message : "sidetone: \(error)")
      if code == .validationFailure, !settings.isEmpty {
        let set = settings.joined(separator: " ")
        Terminal.printError(String(localized: "Set, as sidetone config shows: \(set)"))
      }
      exit(withError: code == .validationFailure ? ExitCode(2) : ExitCode.failure)
    }
  }
}
