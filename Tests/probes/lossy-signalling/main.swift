import CVirtualLoop
import Glibc
import MediaCore
import RealTime
import SIPSignalling
import Simulation
import Synchronization

// Calls of three user agents by UDP in virtual time, over networks that lose, double, delay and
// reorder datagrams: libre's own transactions and ours, its timers driven by the clock of its
// thread.
//
//   lossy-signalling NETWORK FIRST-SEED COUNT
//
// Prints each call that did not go as it should, and the times until calls were established. Ends
// with status 1 if there was any.

/// The directions of the network, by the port that they lead to; used by the loop's thread.
let directions = Mutex<[UInt16: Direction]>([:])

/// One direction of a call's network, and what became of its datagrams.
struct Direction: Sendable {
  var network: EmulatedNetwork
  var copy: MonotonicInstant?
  /// Datagrams lost in a row, now and at most.
  var lost = 0
  var longestLoss = 0

  mutating func arrival(at now: Int64, _ length: Int, _ number: CInt) -> Int64 {
    if number == 1 { return copy?.nanoseconds ?? -1 }
    let instant = MonotonicInstant(nanoseconds: now)
    let fate = network.fate(sentAt: instant, byteCount: length)
    copy = fate.copy
    lost = fate.arrival == nil ? lost + 1 : 0
    longestLoss = max(longestLoss, lost)
    return fate.arrival?.nanoseconds ?? -1
  }
}

func network(named name: String) -> NetworkConditions? {
  var bursts = NetworkConditions(
    "bursts",
    delayMilliseconds: 80,
    jitterMilliseconds: 30,
    lossShare: 0.12,
    lossBurst: 3
  )
  bursts.duplicateShare = 0.2
  bursts.reorderShare = 0.2
  var outages = NetworkConditions("outages", delayMilliseconds: 10, lossShare: 0.3)
  outages.outages = [
    .init(second: 0.05, milliseconds: 1_500), .init(second: 3, milliseconds: 2_000),
  ]
  return [bursts, outages, .lossy10, .awful, .wifiStalls].first { $0.name == name }
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let conditions = network(named: arguments[1]),
  let firstSeed = UInt64(arguments[2]), let count = UInt64(arguments[3]), count > 0
else { fatalError("usage: lossy-signalling NETWORK FIRST-SEED COUNT") }

let scene = Scene()
try await scene.begin()
var faults = 0
var times: [Double] = []
for seed in firstSeed..<firstSeed + count {
  let (fault, seconds) = try await scene.call(over: conditions, seed: seed)
  if let fault {
    faults += 1
    print("\(conditions.name), seed \(seed), \(fault)")
  }
  if let seconds { times.append(seconds) }
}
times.sort()
print("\(conditions.name): \(count) calls, \(faults) faults")
let cutOff = await scene.cutOff
print("\(cutOff) more went wrong, as the network cut them off")
if let worst = times.last {
  let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
  print("from dialling to established: median \(median) s, 99 % \(late) s, worst \(worst) s")
}
if faults > 0 || UInt64(cutOff) * 10 > count { exit(1) }
