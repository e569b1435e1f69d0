import ArgumentParser

struct ListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Wait for calls; ring; answer by key or at once."
  )

  @Flag(help: "Answer at once.")
  var answer = false

  @Flag(help: "End after the first call.")
  var once = false

  @OptionGroup var callOptions: CallOptions
  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func run() async throws {
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 5_060,
      answersAtOnce: answer
    )
    try await session.run(endsAfterFirst: once, calling: nil)
  }
}
