import Foundation
import MediaCore
import Simulation
import Testing

@testable import ICE

/// Search for a path in virtual time, over networks that lose, double, delay and reorder packets.
struct LossyPathTests {
  /// Bursts that are counted in packets and in time, and the networks that `simulate` knows.
  private static let networks: [NetworkConditions] = {
    var bursts = NetworkConditions(
      "80 ms, 12 % in bursts",
      delayMilliseconds: 80,
      jitterMilliseconds: 30,
      lossShare: 0.12,
      lossBurst: 3
    )
    bursts.duplicateShare = 0.2
    bursts.reorderShare = 0.2
    var outages = NetworkConditions("outages", delayMilliseconds: 10, lossShare: 0.2)
    outages.outages = [
      .init(second: 0.05, milliseconds: 1_500), .init(second: 3, milliseconds: 1_000),
      .init(second: 4.5, milliseconds: 700),
    ]
    return [bursts, outages, .lossy10, .awful, .wifiStalls, .spikes]
  }()

  /// `PATHS=200000` tries as many.
  private static let seeds =
    (ProcessInfo.processInfo.environment["PATHS"].flatMap { Int($0) } ?? 5_000) / networks.count + 1

  /// Whatever the routers are, both sides have one path before a phone would give the call up.
  @Test(arguments: networks)
  func everyPathIsFound(network: NetworkConditions) {
    let kinds = Router.Kind.allCases
    var times: [Int64] = []
    for seed in 0..<Self.seeds {
      let first = kinds[seed % kinds.count]
      let second = kinds[seed / kinds.count % kinds.count]
      var scene = ICEScene(first, second)
      scene.networks = [2 * seed, 2 * seed + 1].map {
        EmulatedNetwork(network, seed: UInt64($0))
      }
      scene.connect(seconds: 9)
      // The paths may differ: each side hears at both of its addresses.
      #expect(
        scene.sides.allSatisfy { !$0.paths.isEmpty && !$0.hasFailed && !$0.hasExpired },
        "\(network.name), seed \(seed), \(first) and \(second)"
      )
      times.append(scene.milliseconds ?? .max)
    }
    times.sort()
    let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
    #expect(late < 5_000, "\(network.name): 99 % within \(late) ms")
    print("\(network.name): median \(median) ms, 99 % \(late) ms, worst \(times.last ?? 0) ms")
  }
}
