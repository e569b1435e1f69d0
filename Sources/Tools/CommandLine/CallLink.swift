import CallStore
import Foundation
import Localization
import SIPSignalling
import SidetonePhone

/// A link that names a person to call.
struct CallLink {
  private let scheme: String
  private let rest: String

  /// Parses a link; throws if its scheme is not supported, or if it contains control characters.
  init(_ link: String) throws {
    let parts = link.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    scheme = parts.count == 2 ? parts[0].lowercased() : ""
    // What is no text on a line is no address, and might be taken for more than one.
    let decoded = link.removingPercentEncoding ?? link
    let hasControls = decoded.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard ["sip", "sips", "tel", "sidetone"].contains(scheme), !hasControls else {
      let shown = Terminal.plain(link)
      throw CommandFailure("\"\(shown)\" is no link to call; use sip:, sips:, tel: or sidetone:")
    }
    let body = parts.count == 2 ? String(parts[1]) : ""
    let path = body.hasPrefix("//") ? String(body.dropFirst(2)) : body
    rest = path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  // How to signal is the user's to say, not a web page's, unless it asks for encryption.
  private static func withoutOpenTransport(_ address: String) -> String {
    let parts = address.split(separator: ";", omittingEmptySubsequences: false)
    let kept = parts.enumerated().filter { place, part in
      let parameter = part.lowercased()
      return place == 0 || !parameter.hasPrefix("transport=")
        || parameter.hasPrefix("transport=tls")
    }
    return kept.map { String($0.element) }.joined(separator: ";")
  }

  /// True for a telephone number.
  var isNumber: Bool { scheme == "tel" }

  /// True if a call to an address that a link has named may cost money: by an account, or by the
  /// gateway for numbers.
  static func mayCost(_ address: String, among accounts: [SIPAccount]) -> Bool {
    let host = SIPAddress(address)?.host.lowercased()
    return Phone.usesAccount(for: address, among: accounts)
      || host != nil && host == gatewayHost
  }

  private static var gatewayHost: String? {
    usualGateway.flatMap { SIPAddress("sip:x@\($0)")?.host.lowercased() }
  }

  /// Returns the question to ask before a call that may cost money.
  static func question(about address: String) -> String {
    String(localized: "A link asks to call \(address), which may cost money. Call? y or n: ")
  }

  /// Returns the error for a call that may cost money if there is no terminal to ask at.
  static func refusal(of address: String) -> String {
    String(localized: "a link asks to call \(address), which may cost money: call it yourself")
  }

  /// Asks the user at the terminal; throws unless the answer is yes.
  static func confirm(_ address: String) throws {
    let shown = Terminal.plain(address)
    guard isatty(STDIN_FILENO) == 1 else { throw CommandFailure(reason: refusal(of: shown)) }
    Terminal().ask(question(about: shown))
    guard let answer = readLine(), ["y", "yes"].contains(answer.lowercased()) else {
      throw CommandFailure("the call was not made")
    }
  }

  /// Gateway for telephone numbers from `SIDETONE_GATEWAY`; nil if it is not set.
  static var usualGateway: String? { ProcessInfo.processInfo.environment["SIDETONE_GATEWAY"] }

  /// Returns the SIP address to call; that of a telephone number is at `gateway`.
  ///
  /// Throws a `CommandFailure` for a telephone number that is invalid or lacks a gateway.
  func address(gateway: String?) throws -> String {
    guard scheme == "tel" else {
      let address = rest.removingPercentEncoding ?? rest
      return (scheme == "sips" ? "sips:" : "sip:") + Self.withoutOpenTransport(address)
    }
    guard let gateway else {
      throw CommandFailure("a telephone number needs a gateway: --gateway HOST")
    }
    guard let number = CallerNumber.dialled(rest.removingPercentEncoding ?? rest) else {
      throw CommandFailure("\"\(rest)\" is no telephone number")
    }
    return "sip:\(number)@\(gateway)"
  }
}
