import ArgumentParser
import Foundation
import Localization
import SidetonePhone

struct ListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Wait for calls; ring; answer by key or at once.",
    usage: "sidetone listen [<options>]",
    discussion: HelpScreen.discussion(of: "listen")
  )

  @Flag(help: "Answer at once.")
  var answer = false

  @Flag(
    help: "With --answer: say back what callers say."
  )
  var echo = false

  @Flag(help: ArgumentHelp("Refuse callers who do not say who they are.", visibility: .rare))
  var noAnonymous = false

  @Flag(inversion: .prefixedNo, help: "Stay unknown to the local network.")
  var hidden = false

  @Flag(help: "End after the first call.")
  var once = false

  @OptionGroup var callOptions: CallOptions
  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func validate() throws {
    guard !echo || answer && !once else {
      throw ValidationError(localized: "--echo needs --answer, and does not go with --once")
    }
    guard echo || callOptions.calls ?? 1 <= 8 else {
      throw ValidationError(localized: "--calls is between 1 and 8")
    }
  }

  func run() async throws {
    if echo { return try await runEcho() }
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 5_060,
      answersAtOnce: answer,
      takesAnonymousCalls: !noAnonymous,
      isAnnounced: !hidden
    )
    try await session.run(endsAfterFirst: once, calling: nil)
  }

  private func runEcho() async throws {
    var configuration = PhoneConfiguration()
    try callOptions.apply(to: &configuration, defaultPort: 5_060)
    voiceOptions.apply(to: &configuration)
    configuration.takesAnonymousCalls = !noAnonymous
    let cores = ProcessInfo.processInfo.activeProcessorCount
    configuration.maximumCalls = callOptions.maximumCalls(echoingOn: cores)
    let printer = EventPrinter(
      isJSON: callOptions.json,
      terminal: Terminal(),
      announcesAddresses: true
    )
    try await EchoSession(configuration: configuration, printer: printer).run()
  }
}
