import ArgumentParser
import CallSecurity
import Foundation
import Localization
import SIPSignalling
import SidetonePhone

/// Command `account`: lists, adds, removes and tests the user's accounts at SIP servers.
struct AccountCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "account",
    abstract: "Your accounts at SIP servers.",
    discussion: """
      \"sidetone listen\" is reached at every account, and \"sidetone call\" uses the one of the \
      domain that is called. Passwords are asked for, and never given as arguments.
      """,
    subcommands: [List.self, Add.self, Remove.self, Test.self],
    defaultSubcommand: List.self
  )

  struct List: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List them.")

    @Flag(help: "Print as JSON, one per line.")
    var json = false

    func run() throws {
      for account in try AccountCommand.accounts() {
        let fields: [String: JSONValue] = [
          "address": .text(account.address), "name": .text(account.displayName),
          "login": .text(account.login), "server": .text(account.server),
          "connection": .text(account.connection.rawValue),
          "hasPassword": .flag(!account.password.isEmpty),
        ]
        if json { print(JSONValue.object(fields).line ?? "") } else { print(Self.line(account)) }
      }
    }

    private static func line(_ account: SIPAccount) -> String {
      let connection = account.connection.rawValue.uppercased()
      let place =
        account.server.map {
          String(localized: "\(account.address) at \($0) by \(connection)")
        } ?? String(localized: "\(account.address) by \(connection)")
      let password = account.password.isEmpty ? String(localized: ", without a password") : ""
      return Terminal.plain(place + password)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add one, or change it; its password is asked for.",
      usage: "sidetone account add [<options>] <address>",
      discussion: HelpScreen.discussion(
        of: "account add",
        "The password is read from standard input, one line, if that is no terminal."
      )
    )

    @Argument(help: "The address, for example alice@example.org.")
    var address: String

    @Option(help: ArgumentHelp("Default: what the domain's DNS says.", valueName: "host[:port]"))
    var server: String?

    @Option(help: ArgumentHelp("Default: the name in the address.", valueName: "name"))
    var login: String?

    @Option(help: ArgumentHelp("The name to show to others.", valueName: "text"))
    var name: String?

    @Option(
      help: ArgumentHelp(
        "How to reach the server: tls, tcp, udp, or discovered for what its domain prefers.",
        valueName: "connection"
      )
    )
    var connection = SIPAccount.Connection.tls

    @Option(
      help: ArgumentHelp(
        "The SHA-256 fingerprint of the certificate, for a server that no authority vouches for.",
        valueName: "fingerprint",
        visibility: .rare
      )
    )
    var certificate: String?

    @Option(
      help: ArgumentHelp(
        "A STUN server, which says at which address your router shows you.",
        valueName: "host[:port]",
        visibility: .rare
      )
    )
    var stun: String?

    @Option(
      help: ArgumentHelp(
        "A TURN server for when no other way is open: turn:HOST[?transport=tcp] or turns:HOST.",
        valueName: "uri",
        visibility: .rare
      )
    )
    var turn: String?

    @Option(
      help: ArgumentHelp(
        "Your name at the TURN server, whose password is asked for; default: the account's.",
        valueName: "name",
        visibility: .rare
      )
    )
    var turnLogin: String?

    @Option(
      help: ArgumentHelp(
        "How long to register for, 60 to 86400.",
        valueName: "seconds",
        visibility: .rare
      )
    )
    var expires = 600

    func validate() throws {
      guard (60...86_400).contains(expires) else {
        throw ValidationError(localized: "--expires is between 60 and 86400")
      }
      guard certificate.map({ Fingerprint($0) != nil }) ?? true else {
        throw ValidationError(
          localized: "--certificate is 32 bytes in hexadecimal, with colons between them"
        )
      }
    }

    func run() throws {
      try CommandFailure.orFail {
        var account = try SIPAccount(address, server: server, password: "")
        try addPaths(to: &account)
        if let login { account.login = login }
        account.displayName = name
        account.connection = connection
        account.certificate = certificate.flatMap { Fingerprint($0) }
        account.expires = expires
        try readPasswords(of: &account)
        let place = try AccountBook.ofUser.add(account)
        let text: LocalizationValue =
          .init(localized: "\(account.address) is added; its password is \(reason: place).")
        print(String(localized: text))
      }
    }

    private func readPasswords(of account: inout SIPAccount) throws {
      let prompt = try PasswordPrompt()
      defer { prompt.end() }
      account.password = try prompt.password(of: account.login)
      account.relay?.password =
        try turnLogin.map { try prompt.password(of: $0) } ?? account.password
    }

    private func addPaths(to account: inout SIPAccount) throws {
      if let stun { try account.setSTUNServer(stun) }
      account.relay = try turn.map {
        try RelayServer($0, login: turnLogin ?? login ?? account.login)
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Remove one with its password.")

    @Argument(help: "The address as \"sidetone account\" shows it.")
    var address: String

    func run() throws {
      try CommandFailure.orFail { try AccountBook.ofUser.remove(address) }
    }
  }

  struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Register with the server, and show each step with its time."
    )

    @Argument(help: "The address as \"sidetone account\" shows it; by default the first one.")
    var address: String?

    @Flag(help: "Print as JSON, one per line.")
    var json = false

    func run() async throws {
      let accounts = try AccountCommand.accounts()
      let named = try CommandFailure.orFail { try address.map { try accounts.named($0) } }
      guard let account = named ?? accounts.first else {
        throw CommandFailure("there is no account; add one with: sidetone account add NAME@DOMAIN")
      }
      var configuration = PhoneConfiguration()
      configuration.accounts = [account]
      configuration.port = 0
      configuration.security = .off
      let phone = Phone(configuration)
      let begin = ContinuousClock.now
      try await CommandFailure.orFail { try await phone.start() }
      defer { Task { await phone.stop() } }
      for await event in phone.events {
        let milliseconds = begin.duration(to: .now) / .milliseconds(1)
        switch event {
        case .accountStep(_, let step):
          show("\(reason: step)", milliseconds)
        case .accountRegistered(_, _, let seconds):
          show(.init(localized: "registered for \(seconds) s"), milliseconds)
          return await phone.stop()
        case .accountUnregistered(_, let reason, _):
          await phone.stop()
          throw CommandFailure("\(account.address) cannot be registered: \(reason: reason)")
        default:
          break
        }
      }
    }

    private func show(_ step: LocalizationValue, _ milliseconds: Double) {
      defer { fflush(nil) }
      if json {
        let fields: [String: JSONValue] = [
          "ms": .number((milliseconds * 10).rounded() / 10), "step": .text(step.english),
        ]
        return print(JSONValue.object(fields).line ?? "")
      }
      print(String(format: "%8.1f ms  ", milliseconds) + Terminal.plain(String(localized: step)))
    }
  }

  private static func accounts() throws -> [SIPAccount] {
    try CommandFailure.orFail { try AccountBook.ofUser.accounts() }
  }
}
