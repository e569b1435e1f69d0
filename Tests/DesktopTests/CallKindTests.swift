import Foundation
import ProgramRig
import Testing

/// A call over each sound server that a headset may be behind.
@Suite(.serialized)
struct CallKindTests {
  /// Expects that the voice goes to the headset and comes back all the time.
  private func expectEchoes(of call: EchoCall, after begin: () throws -> Void = {}) throws {
    let outcome = try call.run(seconds: 9, quietFor: 1) { _ in try begin() }
    #expect(outcome.isEndedWell, "\(outcome.farOutput)")
    print(outcome.echoes.count, "echoes, the last after \(outcome.echoes.last?.second ?? 0) s")
    #expect(outcome.echoes.count >= 12, "\(outcome.farOutput)")
  }

  @Test(.enabled(if: ProgramUnderTest.canRun(missing: PipeWireServer.missing)))
  func callOverPipeWire() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try PipeWireServer(in: work.url)
    defer { server.stop() }
    try expectEchoes(of: EchoCall(over: "default", environment: server.environment, in: work.url))
  }

  @Test(.enabled(if: ProgramUnderTest.canRun(missing: JackServer.missing)))
  func callOverJACK() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try JackServer(in: work.url, headsets: ["headset": JackServer.hardware])
    defer { server.stop() }
    let call = try EchoCall(over: "headset", environment: server.environment, in: work.url)
    try expectEchoes(of: call) { try server.letMicrophonesHearLoudspeakers() }
  }
}
