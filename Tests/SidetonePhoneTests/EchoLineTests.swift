import CallSecurity
import SIPSignalling
import Testing

@testable import SidetonePhone

/// A line that answers by itself, and a caller of this process.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct EchoLineTests {
  private static let offer = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)

  private func line(calls: Int) async throws -> (EchoLine, address: String) {
    var configuration = PhoneConfiguration()
    configuration.hosts = ["127.0.0.1"]
    configuration.port = 0
    configuration.security = .off
    configuration.maximumCalls = calls
    let line = EchoLine(configuration)
    return (line, try #require(await line.start().first))
  }

  private func caller() async throws -> UserAgent {
    let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "alice"))
    _ = try await agent.start()
    return agent
  }

  /// A phone would refuse all but ten of them (503).
  @Test func oneHostMayCallAsOftenAtOnceAsThereIsRoomFor() async throws {
    let (line, address) = try await line(calls: 30)
    let alice = try await caller()
    for _ in 0..<31 { _ = try await alice.invite("sip:echo@\(address)", offer: Self.offer) }
    var established = 0
    var refusals: [SIPEndReason] = []
    for await event in alice.events {
      switch event {
      case .established: established += 1
      case .ended(_, let reason): refusals.append(reason)
      default: break
      }
      if established + refusals.count == 31 { break }
    }
    #expect(established == 30)
    #expect(refusals == [.refused(code: 486, phrase: "Busy Here")])
    await alice.stop()
    await line.stop()
  }

  @Test func transferIsDeclinedAndTheCallGoesOn() async throws {
    let (line, address) = try await line(calls: 1)
    let alice = try await caller()
    let call = try await alice.invite("sip:echo@\(address)", offer: Self.offer)
    var statuses: [Int] = []
    for await event in alice.events {
      switch event {
      case .established:
        await alice.transfer(call, to: TransferTarget(uri: "sip:carol@127.0.0.1:9"))
      case .transferProgressed(call, let status): statuses.append(status)
      case .ended(_, let reason): Issue.record("\(reason)")
      default: break
      }
      if (statuses.last ?? 0) >= 200 { break }
    }
    #expect(statuses.last == 603)
    #expect(await line.callCount == 1)
    await alice.stop()
    await line.stop()
  }
}
