import ArgumentParser
import CallSecurity
import Foundation
import Localization
import SidetonePhone
import SIPSignalling

/// Options of calls: listening address, names, accounts, duration, encryption and output.
struct CallOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Where to listen. Default: all addresses, port 5060.",
      valueName: "host:port"
    )
  )
  var listen: String?

  @Option(help: ArgumentHelp("Port for RTP; 0 for any.", valueName: "n", visibility: .rare))
  var rtpPort: UInt16 = 0

  @Option(help: ArgumentHelp("Hang up after so long.", valueName: "seconds"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "The user part of this side's address.",
      valueName: "name",
      visibility: .rare
    )
  )
  var user = "sidetone"

  @Option(help: ArgumentHelp("The name to show to others.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Calls at a time; others get busy. Default: 2, with --answer 1, with --echo 50 per core.",
      valueName: "n",
      visibility: .rare
    )
  )
  var calls: Int?

  @Option(
    help: ArgumentHelp(
      "How long a caller waits for an answer.",
      valueName: "seconds",
      visibility: .rare
    )
  )
  var ringDuration = 60.0

  @Option(
    help: ArgumentHelp(
      "Where to ring: an ALSA name, none, or file:PATH.wav to record the ringing.",
      valueName: "name",
      visibility: .rare
    )
  )
  var ringer = "default"

  @Option(
    help: ArgumentHelp(
      "Encryption.",
      valueName: "policy"
    )
  )
  var security = SecurityPolicy.preferred

  @Option(
    help: ArgumentHelp(
      "The only account to use, or none. Default: all.",
      valueName: "address",
      visibility: .rare
    )
  )
  var account: String?

  /// Presentation of a call on a terminal.
  enum DisplayStyle: String, EnumerableFlag {
    case automatic, plain, screenReader

    static func name(for value: Self) -> NameSpecification {
      value == .automatic ? .customLong("screen") : .long
    }

    static func help(for value: Self) -> ArgumentHelp? {
      switch value {
      case .automatic:
        ArgumentHelp("Show a call on the whole terminal (default).", visibility: .rare)
      case .plain: "Show a call as lines."
      case .screenReader:
        ArgumentHelp("Show a call as lines that do not change.", visibility: .rare)
      }
    }
  }

  @Flag var displayStyle = DisplayStyle.automatic

  @Option(
    help: ArgumentHelp("Write a page about the calls to this HTML file.", valueName: "file")
  )
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Where recordings go. Default: sidetone/recordings in the user's data.",
      valueName: "folder",
      visibility: .rare
    )
  )
  var recordings: String?

  @Flag(
    help: ArgumentHelp(
      "Read keys from standard input even if it is no terminal.",
      visibility: .rare
    )
  )
  var keys = false

  @Flag(help: "Print events as JSON, one per line.")
  var json = false

  @Option(
    help: ArgumentHelp(
      "Log to standard error: trace, debug, info, warning or error.",
      visibility: .rare
    )
  )
  var logLevel = "warning"

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError(localized: "--duration is a positive number of seconds")
    }
    guard (1...3_600).contains(ringDuration) else {
      throw ValidationError(localized: "--ring-duration is between 1 and 3600")
    }
    guard (1...500).contains(calls ?? 1) else {
      throw ValidationError(localized: "--calls is between 1 and 8, with --echo up to 500")
    }
    guard ["trace", "debug", "info", "warning", "error"].contains(logLevel) else {
      throw ValidationError(localized: "--log-level is trace, debug, info, warning or error")
    }
    if let listen, Self.split(listen) == nil {
      throw ValidationError(
        localized: "--listen is HOST:PORT with a numeric host, for example 0.0.0.0:5060"
      )
    }
  }

  /// Returns the largest number of simultaneous calls of a phone.
  func maximumCalls(answersAtOnce: Bool) -> Int { calls ?? (answersAtOnce ? 1 : 2) }

  /// Returns the largest number of simultaneous calls of an echo service, on a machine with so many
  /// cores.
  func maximumCalls(echoingOn cores: Int) -> Int { calls ?? 50 * max(1, cores) }

  /// Account to call with; nil to choose it by the address that is called.
  var callingAccount: String? { account == "none" ? nil : account }

  // With an own address to listen at a call stays between the machines, unless an account is named.
  private func accounts() throws -> [SIPAccount] {
    guard account != "none", account != nil || listen == nil else { return [] }
    let all = try AccountBook.ofUser.accounts()
    return try account.map { [try all.named($0)] } ?? all
  }

  func apply(to configuration: inout PhoneConfiguration, defaultPort: UInt16) throws {
    configuration.accounts = try CommandFailure.orFail { try accounts() }
    let listen = listen.flatMap { Self.split($0) }
    configuration.hosts = listen?.host.map { [$0] } ?? []
    configuration.bindsMediaToHost = listen?.host != nil
    configuration.port = listen?.port ?? defaultPort
    configuration.mediaPort = rtpPort
    configuration.user = user
    configuration.displayName = name
    configuration.ringDuration = ringDuration
    configuration.security = security
  }

  /// Splits the value of `--listen` into host (nil for every address) and port; nil if it is
  /// malformed or the host is not numeric.
  static func split(_ text: String) -> (host: String?, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.isEmpty || host == "0.0.0.0" || host == "::" { return (nil, port) }
    let isNumeric = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    return isNumeric ? (host, port) : nil
  }
}
