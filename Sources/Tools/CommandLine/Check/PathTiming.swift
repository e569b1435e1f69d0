import Foundation
import Localization
import SIPSignalling
import SidetonePhone
import UDPTransport

/// The way to a far side, as questions to it have found it.
struct PathTiming: Equatable {
  /// How many questions were asked; 0 for a far side that is not reached by UDP.
  var asked = 0
  /// How long each answer took, in milliseconds, in the order of the questions.
  var roundTrips: [Double] = []
  /// How many answers took so long that the question was repeated meanwhile: a packet was lost, or
  /// the way is slow.
  var late = 0
  /// True if a router on the way changes this side's address.
  var isTranslated = false
  /// The largest packet that the way takes, as far as the system knows, in bytes.
  var largestPacket: Int?
  /// Whether the port of TLS takes connections.
  var takesTLS = false

  private static let questions = 20
  private static let pause = Duration.milliseconds(50)
  /// How long an answer is waited for, in nanoseconds.
  private static let patience: Int64 = 2_000_000_000
  /// A question is repeated after 500 ms (RFC 3261, T1).
  private static let latest = 450.0

  /// Asks `text`, a SIP address, twenty times.
  ///
  /// - Throws: what is wrong with the address, or why this side has no port.
  static func measure(to text: String) async throws -> PathTiming {
    let localHost = try await Phone.localHost(towards: text)
    guard let named = SIPAddress(text) else {
      throw CommandFailure("\"\(text)\" is no SIP address")
    }
    let hosts = await HostName.addresses(of: named.host, within: .seconds(5))
    guard let host = hosts.first else { throw CommandFailure("unknown host \"\(named.host)\"") }
    var timing = PathTiming()
    if named.transport == nil || named.transport == .udp {
      let uri = named.uri(atNumericHost: host, by: .udp)
      try await timing.ask(uri, from: localHost)
    }
    guard let sip = SocketAddress(host: host, port: named.port) else { return timing }
    timing.largestPacket = ReachabilityProbe.pathMTU(to: sip)
    guard let secure = SocketAddress(host: host, port: named.securePort) else { return timing }
    timing.takesTLS = ReachabilityProbe.isConnectable(secure, milliseconds: 2_000)
    return timing
  }

  private mutating func ask(_ uri: String, from localHost: String) async throws {
    let agent = UserAgent(.init(hosts: [localHost], port: 0, user: "check"))
    _ = try await agent.start()
    var answers: [(number: Int, answer: ProbeAnswer)] = []
    await withTaskGroup(of: (Int, ProbeAnswer?).self) { group in
      for question in 0..<Self.questions {
        group.addTask {
          // Not cancelled.
          try? await Task.sleep(for: Self.pause * question)
          return (question, await agent.probe(uri, from: localHost, within: Self.patience))
        }
      }
      for await (number, answer) in group {
        if let answer { answers.append((number, answer)) }
      }
    }
    await agent.stop()
    asked = Self.questions
    let times = answers.sorted { $0.number < $1.number }
      .map { Double($0.answer.roundTripNanoseconds) / 1e6 }
    roundTrips = times.filter { $0 < Self.latest }
    late = times.count - roundTrips.count
    isTranslated = answers.contains { $0.answer.isTranslated }
  }
}
