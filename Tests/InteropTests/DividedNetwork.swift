import Foundation
import Testing

/// Two hosts in networks of their own, which both reach a server, and each other only if the
/// server's host forwards.
///
/// **Life cycle:** made by the initialiser, taken away by `deinit`.
final class DividedNetwork {
  /// Address of the server.
  static let server = "10.79.9.1"
  private static let suffixes = ["a", "b"]

  private let ip: String
  private let tag: String

  /// Makes the networks; nil if namespaces are not permitted.
  init?(_ ip: String, isForwarding: Bool = false) throws {
    self.ip = ip
    tag = String(UUID().uuidString.prefix(4)).lowercased()
    for name in [centre] + Self.suffixes.map({ host($0) }) {
      guard try run(["netns", "add", name]), try run(["-n", name, "link", "set", "lo", "up"]) else {
        return nil
      }
    }
    guard try run(["-n", centre, "addr", "add", "\(Self.server)/32", "dev", "lo"]) else {
      return nil
    }
    for (number, suffix) in Self.suffixes.enumerated() {
      guard try connect(suffix, by: "d", to: number) else { return nil }
    }
    guard isForwarding else { return }
    let forward = ["netns", "exec", centre, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"]
    guard try run(forward) else { return nil }
  }

  private func connect(_ suffix: String, by cable: String, to number: Int) throws -> Bool {
    let (inner, outer) = ("\(cable)\(tag)\(suffix)", "\(cable)e\(tag)\(suffix)")
    let network = "10.79.\(number)"
    let steps = [
      ["link", "add", inner, "netns", host(suffix), "type", "veth", "peer", "name", outer]
        + ["netns", centre],
      ["-n", host(suffix), "addr", "add", "\(network).2/24", "dev", inner],
      ["-n", centre, "addr", "add", "\(network).1/24", "dev", outer],
      ["-n", host(suffix), "link", "set", inner, "up"],
      ["-n", centre, "link", "set", outer, "up"],
      ["-n", host(suffix), "route", "add", "default", "via", "\(network).1"],
    ]
    return try steps.allSatisfy { try run($0) }
  }

  /// Moves a host from its network to another one, as from a cable to Wi-Fi.
  func move(_ number: Int) throws {
    let suffix = Self.suffixes[number]
    let isMoved =
      try run(["-n", host(suffix), "link", "delete", "d\(tag)\(suffix)"])
      && connect(suffix, by: "w", to: 5 + number)
    #expect(isMoved)
  }

  /// Drops all packets to a host, or lets them through again; the host gets no error.
  func setSilent(_ number: Int, _ isSilent: Bool) throws {
    let change = isSilent ? "add" : "delete"
    let done = try run(["-n", centre, "route", change, "blackhole", "10.79.\(number).2/32"])
    #expect(done)
  }

  deinit {
    for name in [centre] + Self.suffixes.map({ host($0) }) {
      // The names are unique, so that one which is left over disturbs no later run.
      _ = try? run(["netns", "delete", name])
    }
  }

  private var centre: String { "sd\(tag)" }
  private func host(_ suffix: String) -> String { "sd\(tag)\(suffix)" }

  private func run(_ arguments: [String]) throws -> Bool {
    try ProgramRun(ip, arguments).waitForExit() == 0
  }

  /// Command that starts a program on the host of the servers.
  var serverLauncher: [String] { [ip, "netns", "exec", centre] }

  /// Starts the program under test on one of the hosts, 0 or 1.
  func start(
    on number: Int,
    _ arguments: [String],
    environment: [String: String]
  ) throws -> ProgramRun {
    let program = try #require(Bench.program)
    return try ProgramRun(
      ip,
      ["netns", "exec", host(Self.suffixes[number]), program] + arguments,
      environment: environment
    )
  }
}
