import Foundation

// headset-rig SECONDS [SKIP]: plays and records for SECONDS, then prints the delays of both
// directions as one line of JSON. Start it before the programs that use the headsets. The first SKIP
// seconds and the last two are not judged: the call begins in the one and may end in the other.
// RIG_VERBOSE=1 prints each delay on standard error.

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let seconds = arguments.first ?? 20
let skipped = arguments.dropFirst().first ?? 5
let judged = max(1, seconds - skipped - 2)

struct Direction: Encodable {
  let median: Double
  let percentile95: Double
  let percentile5: Double
  let heard: Int
  let missed: Int

  init(_ delays: [Double]) {
    let sorted = delays.filter { !$0.isNaN }.sorted()
    func percentile(_ share: Double) -> Double {
      guard !sorted.isEmpty else { return -1 }
      let value = sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
      return (value * 100).rounded() / 100
    }
    median = percentile(0.5)
    percentile95 = percentile(0.95)
    percentile5 = percentile(0.05)
    heard = sorted.count
    missed = delays.count - sorted.count
  }
}

do {
  let rig = try HeadsetRig(seconds: seconds)
  print("ready")
  fflush(nil)
  Thread.sleep(forTimeInterval: Double(seconds))
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  let result = [
    "aToB": Direction(rig.delays(from: 0, to: 1, skipping: skipped, count: judged)),
    "bToA": Direction(rig.delays(from: 1, to: 0, skipping: skipped, count: judged)),
  ]
  print(String(decoding: try encoder.encode(result), as: UTF8.self))
} catch {
  FileHandle.standardError.write(Data("headset-rig: \(error)\n".utf8))
  exit(1)
}
