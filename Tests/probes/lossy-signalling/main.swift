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
//   lossy-signalling NETWORK FIRST-SEED COUNT [COURSE]
//
// Prints each call that did not go as it should, and the times until calls were established. Ends
// with status 1 if there was any, or if the network cut off an eighth of the calls of a course.

/// The network of the call at hand; used by the loop's thread.
let network = Mutex(Network(.lossy10, seed: 0, from: MonotonicClock.now()))

func conditions(named name: String) -> NetworkConditions? {
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
guard (4...5).contains(arguments.count), let conditions = conditions(named: arguments[1]),
  let firstSeed = UInt64(arguments[2]), let count = UInt64(arguments[3]), count > 0
else { fatalError("usage: lossy-signalling NETWORK FIRST-SEED COUNT [COURSE]") }

let course = arguments.dropFirst(4).first.map { Scene.Course(rawValue: $0) }
if course == .some(nil) { fatalError("there is no such course") }
let scene = Scene()
try await scene.begin()
var faults = 0
var times: [Double] = []
for seed in firstSeed..<firstSeed + count {
  let (fault, seconds) = try await scene.call(over: conditions, seed: seed, course ?? nil)
  if let fault {
    faults += 1
    print("\(conditions.name), seed \(seed), \(fault)")
  }
  if let seconds { times.append(seconds) }
}
times.sort()
print("\(conditions.name): \(count) calls, \(faults) faults")
let counts = await scene.counts
let cutOff = counts.filter { $0.value.cutOff > 0 }.map { "\($0.key) \($0.value.cutOff)" }.sorted()
print("cut off by the network: " + (cutOff.isEmpty ? "none" : cutOff.joined(separator: ", ")))
if let worst = times.last {
  let (median, late) = (times[times.count / 2], times[times.count * 99 / 100])
  print("from dialling to established: median \(median) s, 99 % \(late) s, worst \(worst) s")
}
let isBroken = counts.values.contains {
  $0.all >= 10 && ($0.all < 50 ? 3 : 8) * $0.cutOff > $0.all
}
if faults > 0 || isBroken { exit(1) }
