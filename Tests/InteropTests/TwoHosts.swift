import Foundation
import Testing

/// Two hosts on one cable: two network namespaces of this machine.
///
/// **Life cycle:** made by the initialiser, taken away by `deinit`.
final class TwoHosts {
  /// Addresses of the two hosts on their cable, and whether they have loopback interfaces.
  struct Addressing: CustomStringConvertible, Sendable {
    let description: String
    var network = "10.77.0."
    var prefixLength = 24
    var hasLoopback = true
    /// The second host, as a SIP URI has it.
    var secondHost: String { network.contains(":") ? "[\(network)2]" : "\(network)2" }

    static let usual = Addressing(description: "IPv4")
    static let unusual = [
      Addressing(description: "IPv6 alone", network: "fd00:77::", prefixLength: 64),
      Addressing(description: "no loopback interface", hasLoopback: false),
    ]
  }

  let ip: String
  let names: [String]

  init?(_ ip: String, _ addressing: Addressing = .usual) throws {
    self.ip = ip
    let tag = String(UUID().uuidString.prefix(4)).lowercased()
    names = ["st\(tag)a", "st\(tag)b"]
    for name in names where try !run(["netns", "add", name]) { return nil }
    guard
      try run(["link", "add", "v\(tag)a", "type", "veth", "peer", "name", "v\(tag)b"])
    else { return nil }
    for (index, name) in names.enumerated() {
      let cable = "v\(tag)" + (index == 0 ? "a" : "b")
      guard try run(["link", "set", cable, "netns", name]),
        try run(
          ["-n", name, "addr", "add", "dev", cable]
            + ["\(addressing.network)\(index + 1)/\(addressing.prefixLength)"]
            // Usable at once: nothing else has the address (RFC 4862 section 5.4).
            + (addressing.network.contains(":") ? ["nodad"] : [])
        ),
        try run(["-n", name, "link", "set", cable, "up"]),
        try !addressing.hasLoopback || run(["-n", name, "link", "set", "lo", "up"])
      else { return nil }
    }
  }

  deinit {
    for name in names { _ = try? run(["netns", "delete", name]) }
  }

  /// Replaces the first address of a host by another one.
  func move(_ host: Int, to number: Int, in addressing: Addressing = .usual) throws {
    let cable = "\(names[host].replacing("st", with: "v"))"
    let (before, after) = (
      "\(addressing.network)\(host + 1)/24", "\(addressing.network)\(number)/24"
    )
    let isMoved =
      try run(["-n", names[host], "addr", "del", before, "dev", cable])
      && run(["-n", names[host], "addr", "add", after, "dev", cable])
    #expect(isMoved)
  }

  private func run(_ arguments: [String]) throws -> Bool {
    try ProgramRun(ip, arguments).waitForExit() == 0
  }

  /// Starts the program on a host.
  func start(
    on host: Int,
    _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> ProgramRun {
    try run(#require(Bench.program), on: host, arguments, environment: environment)
  }

  /// Starts any program on a host.
  func run(
    _ program: String,
    on host: Int,
    _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> ProgramRun {
    try ProgramRun(
      ip,
      ["netns", "exec", names[host], program] + arguments,
      environment: environment
    )
  }
}
