import ArgumentParser
import CallStore
import Localization

struct CallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "call",
    abstract: "Place a call.",
    usage: "sidetone call [<options>] [<address>]",
    discussion: HelpScreen.discussion(of: "call")
  )

  @Argument(
    help: "Whom: an address like sip:bob@192.168.1.20, a name, or a number at an account's server."
  )
  var address: String?

  @Flag(help: "Call whom this user called last.")
  var redial = false

  @OptionGroup var callOptions: CallOptions
  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func validate() throws {
    guard (address == nil) == redial else {
      throw ValidationError(localized: "name whom to call, or --redial")
    }
  }

  private func whom() throws -> String {
    if let address { return address }
    guard
      let last = try CallStore.ofUser().recents().first(where: {
        $0.isOutgoing && $0.canBeCalledBack
      })
    else {
      throw CommandFailure("there is no call to repeat; give an address")
    }
    return last.handle
  }

  func run() async throws {
    let address = try whom()
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 0
    )
    let callee = try await PersonSearch.callee(for: address, by: session.means)
    try await session.run(endsAfterFirst: true, calling: callee)
  }
}
