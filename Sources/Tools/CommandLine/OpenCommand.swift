import ArgumentParser
import CallStore
import Foundation
import Localization

struct OpenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Call what a sip:, tel: or sidetone: link names.",
    usage: "sidetone open [<options>] [<link>]",
    discussion: HelpScreen.discussion(
      of: "open",
      """
      Links are sip:, sips:, tel: (through a gateway) and sidetone: (for example \
      sidetone://bob@host). A sidetone that runs already takes the call over.
      """
    ),
    shouldDisplay: !HelpScreen.isShort
  )

  @Argument(help: "The link.")
  var link: String?

  @Option(help: "The SIP host that takes telephone numbers.")
  var gateway: String?

  @Flag(help: "Make the desktop open such links with this.")
  var register = false

  @OptionGroup var callOptions: CallOptions
  @OptionGroup var voiceOptions: VoiceOptions
  @OptionGroup var deviceOptions: DeviceOptions

  func validate() throws {
    guard register || link != nil else {
      throw ValidationError(localized: "name a link, or --register")
    }
  }

  func run() async throws {
    if register { try DesktopEntry.install() }
    guard let link else { return }
    let call = try CallLink(link)
    let address = try call.address(gateway: gateway ?? CallLink.usualGateway)
    if call.isNumber { try CallLink.confirm(address) }
    if RunningInstance.handOver(address) {
      let text = String(localized: "The sidetone that runs already is asked to call \(address).")
      print(Terminal.plain(text))
      return
    }
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 0
    )
    if !call.isNumber, session.mayCost(address) { try CallLink.confirm(address) }
    try await session.run(endsAfterFirst: true, calling: .address(address))
  }
}

/// Desktop entry for the links that this program opens.
enum DesktopEntry {
  /// Name of the packaged desktop entry, and of the application on the user's bus.
  static let name = "org.sidetone.Sidetone"
  private static let schemes = ["sip", "sips", "tel", "sidetone"]

  /// Writes the entry, as `sidetone.desktop`, to the user's applications.
  static func install() throws {
    let folder = CallStore.defaultFolder.deletingLastPathComponent()
      .appendingPathComponent("applications")
    let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    let text = """
      [Desktop Entry]
      Type=Application
      Name=Sidetone
      Comment=Headset calls between Linux machines
      Exec="\(program)" open %u
      Terminal=true
      Categories=Network;Telephony;
      MimeType=\(schemes.map { "x-scheme-handler/\($0);" }.joined())

      """
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let file = folder.appendingPathComponent("sidetone.desktop")
      try text.write(to: file, atomically: true, encoding: .utf8)
      print(String(localized: "Wrote \(file.path)."))
    } catch {
      throw CommandFailure("cannot write to \(folder.path): \(error.localizedDescription)")
    }
  }
}
