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
    let address = try CallLink(link).address(gateway: gateway ?? CallLink.usualGateway)
    if RunningInstance.handOver(address) {
      let text = String(localized: "The sidetone that runs already calls \(address).")
      print(Terminal.plain(text))
      return
    }
    let session = try CallSession(
      call: callOptions,
      voice: voiceOptions,
      device: deviceOptions,
      defaultPort: 0
    )
    try await session.run(endsAfterFirst: true, calling: .address(address))
  }
}

/// A link that names a person to call.
struct CallLink {
  private let scheme: String
  private let rest: String

  /// Takes a link apart; throws if its scheme is none of ours.
  init(_ link: String) throws {
    let parts = link.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    scheme = parts.count == 2 ? parts[0].lowercased() : ""
    guard ["sip", "sips", "tel", "sidetone"].contains(scheme) else {
      throw CommandFailure("\"\(link)\" is no link to call; use sip:, sips:, tel: or sidetone:")
    }
    let body = parts.count == 2 ? String(parts[1]) : ""
    let path = body.hasPrefix("//") ? String(body.dropFirst(2)) : body
    rest = path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// The gateway that the environment names.
  static var usualGateway: String? { ProcessInfo.processInfo.environment["SIDETONE_GATEWAY"] }

  /// The SIP address to call.
  func address(gateway: String?) throws -> String {
    guard scheme == "tel" else {
      return (scheme == "sips" ? "sips:" : "sip:") + (rest.removingPercentEncoding ?? rest)
    }
    guard let gateway else {
      throw CommandFailure("a telephone number needs a gateway: --gateway HOST")
    }
    guard let number = CallerNumber.normalized(rest) else {
      throw CommandFailure("\"\(rest)\" is no telephone number")
    }
    return "sip:\(rest.hasPrefix("+") ? "+" : "")\(number)@\(gateway)"
  }
}

/// The desktop entry that names the links which this program opens.
enum DesktopEntry {
  /// The name of the entry that is installed, and of the application on the user's bus.
  static let name = "org.sidetone.Sidetone"
  private static let schemes = ["sip", "sips", "tel", "sidetone"]

  /// Writes the entry to the user's applications.
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
