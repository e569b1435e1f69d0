import Foundation
import ProgramRig
import Simulation
import Testing

private let environment = ProcessInfo.processInfo.environment
/// Number of calls tried on each network; 0 unless `make test-losses` sets it.
private let calls = environment["LOSSY_CALLS"].flatMap { UInt64($0) } ?? 0
/// Seed of the first of them, for a look at one that failed.
private let firstSeed = environment["LOSSY_SEED"].flatMap { UInt64($0) } ?? 1

/// Default calls over networks that lose datagrams from the first one on.
@Suite(.waiting, .serialized, .enabled(if: calls > 0))
struct LossyCallTests {
  /// Time of an event by the program's own clock, in milliseconds.
  private static func time(of event: String, in run: ProgramRun) throws -> Double {
    let line = run.output.split(separator: "\n").first { $0.contains("\"event\":\"\(event)\"") }
    let found = try #require(line?.firstMatch(of: /"at":([0-9.]+)/), "\(run.output)")
    return try #require(Double(found.output.1))
  }

  @Test(arguments: [NetworkConditions.lossy10, .awful])
  func everyCallIsSecured(network: NetworkConditions) throws {
    guard Bench.ip != nil else { return Bench.skip("iproute2 root") }
    var times: [(connected: Double, secured: Double)] = []
    for seed in firstSeed..<firstSeed + calls {
      let scene = try AttackScene(over: network, seed: seed)
      let listener = try scene.listen()
      let caller = try scene.call(seconds: 60)
      for run in [caller, listener] {
        #expect(run.wait(for: "\"event\":\"secured\""), "seed \(seed): \(run.output)")
      }
      caller.signal(SIGINT)
      #expect(caller.waitForExit() == 0, "seed \(seed): \(caller.output)")
      let begin = try Self.time(of: "calling", in: caller)
      let connected = try Self.time(of: "connected", in: caller)
      let secured = try Self.time(of: "secured", in: caller)
      times.append((connected - begin, secured - connected))
      scene.end(listener)
    }
    let setUp = Percentiles(times.map(\.connected))
    let keys = Percentiles(times.map(\.secured))
    print("\(network.name), \(times.count) calls: connected after \(setUp.median) ms,")
    print("secured \(keys.median) ms later, 95 % \(keys(0.95)), worst \(keys(1))")
  }
}
