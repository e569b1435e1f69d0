import Foundation
import ProgramRig
import Testing

/// Calls from many hosts at once, which use up the share of strangers.
@Suite(.waiting, .serialized)
struct CrowdTests {
  /// Sockets at hosts of their own, whose calls are refused.
  ///
  /// They ask to replace a call that does not exist, so that none of them rings.
  private struct Crowd {
    private let descriptors: [Int32]
    private let port: UInt16
    private var sent = 0

    init(hosts: Int, port: Int) throws {
      self.port = UInt16(port)
      descriptors = (0..<hosts).map { number in
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        _ = LoopbackSocket.bind(descriptor, to: 0, at: "127.0.3.\(number + 1)")
        return descriptor
      }
      try #require(descriptors.allSatisfy { $0 >= 0 })
    }

    /// Sends one INVITE from the next host.
    mutating func call() {
      sent += 1
      let host = sent % descriptors.count
      let request = [
        "INVITE sip:bob@127.0.0.1 SIP/2.0",
        "Via: SIP/2.0/UDP 127.0.3.\(host + 1);rport;branch=z9hG4bKc\(sent)",
        "From: <sip:mallory@127.0.3.\(host + 1)>;tag=\(sent)", "To: <sip:bob@127.0.0.1>",
        "Call-ID: crowd-\(sent)", "CSeq: 1 INVITE", "Contact: <sip:mallory@127.0.3.\(host + 1)>",
        "Replaces: nothing;to-tag=1;from-tag=2", "Max-Forwards: 70", "Content-Length: 0", "", "",
      ]
      let text = request.joined(separator: "\r\n")
      _ = LoopbackSocket.send(Array(text.utf8), to: port, from: descriptors[host])
    }

    /// Status codes of the responses that the hosts have received.
    func answers() -> [String] {
      descriptors.flatMap { LoopbackSocket.datagrams(at: $0, within: 0) }
        .map { String(decoding: $0.dropFirst(8).prefix(3), as: UTF8.self) }
    }

    func leave() {
      for descriptor in descriptors { close(descriptor) }
    }
  }

  private let environment: [String: String]
  private let port = Bench.port()

  init() throws {
    environment = ["XDG_DATA_HOME": try Bench.folder().path]
  }

  private func listen() throws -> ProgramRun {
    let run = try Bench.run(
      ["listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--headset", "null"],
      environment: environment
    )
    #expect(run.wait(for: "registered"), "\(run.output)")
    return run
  }

  private func call() throws -> ProgramRun {
    try Bench.run([
      "call", "sip:bob@127.0.0.1:\(port)", "--json", "--headset", "null", "--duration", "1",
      "--listen", "127.0.0.1:0",
    ])
  }

  /// Calls a phone that has just been started, while a crowd calls; true if the call gets through.
  private func getsThroughACrowd() throws -> Bool {
    let phone = try listen()
    var crowd = try Crowd(hosts: 200, port: port)
    defer { crowd.leave() }
    for _ in 0..<200 { crowd.call() }
    let caller = try call()
    var none = pollfd(fd: -1, events: 0, revents: 0)
    let end = Date(timeIntervalSinceNow: Patience.limit)
    while Date() < end, !caller.output.contains("\"ended\"") {
      crowd.call()
      _ = unsafe poll(&none, 0, 1)
    }
    let answers = crowd.answers()
    #expect(answers.contains("481") && answers.count { $0 == "503" } > 50)
    guard caller.waitForExit() == 0 else {
      #expect(caller.printed("503"), "\(caller.output)")
      return false
    }
    #expect(phone.waitForExit() == 0, "\(phone.output)")
    return true
  }

  @Test func callerOfBeforeTheRestartGetsThrough() throws {
    let phone = try listen()
    let caller = try call()
    #expect(caller.waitForExit() == 0 && phone.waitForExit() == 0, "\(caller.output)")
    #expect(try getsThroughACrowd())
    #expect(try getsThroughACrowd())
  }

  /// A caller that the user has cleared from the recent calls is a stranger again.
  @Test func callerThatIsForgottenWaitsLikeAnyStranger() throws {
    let phone = try listen()
    let caller = try call()
    #expect(caller.waitForExit() == 0 && phone.waitForExit() == 0, "\(caller.output)")
    // A stranger may be lucky, and take the one place that comes free in 200 ms.
    var attempts = 0
    repeat {
      attempts += 1
      let recents = try Bench.run(["recents", "--clear"], environment: environment)
      #expect(recents.waitForExit() == 0, "\(recents.output)")
    } while try attempts < 4 && getsThroughACrowd()
    #expect(attempts < 4)
  }
}
