import ArgumentParser
import ProgramRig

/// Flood of a phone by strangers, who send more than any phone could use.
struct FloodCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "flood",
    abstract: "Floods a phone on this machine with INVITEs, datagrams and connections."
  )

  @Option(
    help: ArgumentHelp("Where the phone takes SIP; TLS has the next port.", valueName: "port")
  )
  var signalling: Int

  @Option(help: ArgumentHelp("Where it takes its voice.", valueName: "port"))
  var media: Int

  @Option(help: ArgumentHelp("How long, 1 to 3600.", valueName: "seconds"))
  var seconds = 10

  @Option(help: ArgumentHelp("Where they are: an address of this machine.", valueName: "address"))
  var host = "127.0.0.66"

  func validate() throws {
    guard (1...65_534).contains(signalling), (1...65_535).contains(media) else {
      throw ValidationError("ports are between 1 and 65535")
    }
    guard (1...3_600).contains(seconds) else {
      throw ValidationError("--seconds is between 1 and 3600")
    }
  }

  func run() throws {
    var flood = try Flood(from: host, signalling: signalling, media: media)
    flood.run(seconds: Double(seconds))
    let answers = flood.answers.sorted { $0.key < $1.key }.map { "\($0.value) times \($0.key)" }
    print(
      "\(flood.invites) INVITEs, \(flood.datagrams) datagrams, \(flood.connections) connections;",
      "answers: \(answers.joined(separator: ", "))"
    )
  }
}
