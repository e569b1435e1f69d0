import Foundation
import Testing

/// Calls by SIP over UDP in virtual time, over networks that lose, double, delay and reorder
/// datagrams: bursts that are counted in packets and in time.
///
/// libre has one event loop for a process, whose clock the program `lossy-signalling` turns.
@Suite(.waiting)
struct LossySignallingTests {
  /// `SIGNALLED=200000` tries as many.
  private static let seeds =
    max(1, (ProcessInfo.processInfo.environment["SIGNALLED"].flatMap { Int($0) } ?? 5_000) / 5)

  /// Each call is established, held and resumed by either side or both at once, refreshed for an
  /// hour, transferred, cancelled, declined and ended on both sides, unless the network loses seven
  /// datagrams, which are all of a transaction's.
  ///
  /// Seven in eight relayed calls find their path at least, though neither side has another one and
  /// a relay may answer too late for the first offer; all do where bursts are counted in time.
  @Test(arguments: ["lossy-10", "bursts", "awful", "outages", "wifi-stalls"])
  func everyCallGoesAsItsPeopleWant(network: String) throws {
    let run = try ProgramRun(
      try Bench.sibling("lossy-signalling"),
      [network, "1", "\(Self.seeds)"]
    )
    let status = run.waitForExit()
    print(run.output)
    #expect(status == 0, "\(run.output)")
    #expect(run.printed("\(network): \(Self.seeds) calls, 0 faults"))
  }
}
