import ProgramRig
import ArgumentParser
import Dispatch

/// Root command of `bench`: cost and sound of Sidetone, beside other programs and the bare
/// libraries.
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "What Sidetone costs and how it sounds, beside other programs and libraries.",
    subcommands: [
      CallCommand.self, FloodCommand.self, PlayoutCommand.self, CountersCommand.self,
      ScaleCommand.self, SetupCommand.self, CostCommand.self, FiltersCommand.self,
      SoakCommand.self, ReportCommand.self,
    ]
  )
}

/// Entry point of the program.
///
/// Only asynchronous commands run in a task under `dispatchMain`, which gives the main thread away:
/// valgrind 3.19 does not survive that.
@main
enum BenchProgram {
  static func main() {
    do {
      var command = try Bench.parseAsRoot()
      guard command is any AsyncParsableCommand else { return try command.run() }
      Task {
        do {
          guard var command = try Bench.parseAsRoot() as? any AsyncParsableCommand else { return }
          try await command.run()
          Bench.exit()
        } catch {
          Bench.exit(withError: error)
        }
      }
      dispatchMain()
    } catch {
      Bench.exit(withError: error)
    }
  }
}
