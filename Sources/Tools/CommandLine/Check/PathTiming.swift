import Foundation
import Localization
import SIPSignalling
import SidetonePhone
import UDPTransport

/// Path to a far side, as measured by probes (OPTIONS requests) to it.
struct PathTiming: Equatable {
  /// Number of probes; 0 for a far side that is not reached by UDP.
  var asked = 0
  /// Round trips in milliseconds of the probes that were answered in time, in their order.
  var roundTrips: [Double] = []
  /// Number of probes that were answered after 450 ms or more: a packet was lost and repeated, or
  /// the path is slow.
  var late = 0
  /// True if a router on the path changes this side's address (NAT).
  var isTranslated = false
  /// Largest packet that the path takes in one piece, in bytes; nil if the system knows none.
  var largestPacket: Int?
  /// True if the port of TLS takes connections.
  var takesTLS = false

  private static let questions = 20
  private static let pause = Duration.milliseconds(50)
  /// Longest wait for an answer, in nanoseconds.
  private static let patience: Int64 = 2_000_000_000
  /// Longest round trip in milliseconds of a probe that was answered in time; SIP repeats it after
  /// 500 ms (RFC 3261, T1).
  private static let latest = 450.0

  /// Measures the path to `text`, a SIP address, with twenty probes.
  ///
  /// - Throws: an error if the address is invalid, its host is unknown or no socket can be bound.
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
