import Foundation
import MediaCore
import RealTime

// fault-probe FOLDER SECONDS MICROPHONE LOUDSPEAKER...: plays a probe into the far end of a
// microphone's cable and records the far ends of loudspeakers' cables, through whatever happens to
// their cards. Leaves what was heard, added up, as `heard.f32` (48 kHz, 32-bit float), and
// `mouth.json`: when it began, in nanoseconds of the monotonic clock, and from which frame on sound
// was how many frames later than that clock.

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 4, let seconds = Int(arguments[2]), (1...3_600).contains(seconds) else {
  print("usage: fault-probe FOLDER SECONDS MICROPHONE LOUDSPEAKER...")
  exit(2)
}
let folder = URL(fileURLWithPath: arguments[1])
let begin = MonotonicClock.now()
var mouth = Mouth(arguments[3], begin: begin)
var ear = Ear(arguments[4], begin: begin, seconds: seconds)
var second = Ear(arguments.count > 4 ? arguments[5] : "none", begin: begin, seconds: seconds)
let end = begin.advanced(byNanoseconds: Int64(seconds) * 1_000_000_000)
print("ready")
fflush(nil)
while MonotonicClock.now() < end {
  mouth.turn()
  ear.turn()
  second.turn()
  usleep(5_000)
}
ear.close()
second.close()
let heard = zip(ear.heard, second.heard).map { $0 + $1 }
try unsafe heard.withUnsafeBytes {
  unsafe try Data($0).write(to: folder.appendingPathComponent("heard.f32"))
}
// A card that was gone at once has told nothing.
let stretches = mouth.stretches.filter { $0.shift < .max }
let record = MouthRecord(begin: begin.nanoseconds, stretches: stretches)
try JSONEncoder().encode(record).write(to: folder.appendingPathComponent("mouth.json"))
