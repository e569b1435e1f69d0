import ArgumentParser

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Place a call."
  )

  @Argument(help: "Whom to call, for example sip:bob@192.168.1.20.")
  var address: String

  @OptionGroup var callOptions: CallOptions
  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func run() async throws {
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 0
    )
    try await session.run(answersAtOnce: false, endsAfterFirst: true, calling: address)
  }
}
