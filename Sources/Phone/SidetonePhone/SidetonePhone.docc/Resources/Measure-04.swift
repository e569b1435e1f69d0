import Foundation
import SidetonePhone

func milliseconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e6 }

/// The figures of one second.
func line(_ figures: CallStatistics) -> String {
  let stream = figures.stream
  return String(
    format: "%3.0f s: jitter %.1f ms, held back %.1f ms, lost %ld",
    figures.seconds,
    milliseconds(stream.jitterNanoseconds),
    milliseconds(stream.playoutDelayNanoseconds),
    Int(stream.packetsLost)
  )
}

/// Parts of the delay from the far side's mouth to this side's ear, in milliseconds.
///
/// The far side's microphone and packets are assumed to be like this side's, and the network delay
/// to be half of the round trip.
func stages(_ figures: CallStatistics) -> [(name: String, milliseconds: Double)] {
  let (stream, engine) = (figures.stream, figures.engine)
  let packet = Double(stream.packetFrames) / 48
  let period = min(milliseconds(engine.capturePeriodNanoseconds), packet)
  return [
    ("microphone's period", period),
    ("rest of the packet", packet - period),
    ("codec's look-ahead", milliseconds(stream.lookAheadNanoseconds)),
    ("network", milliseconds(max(0, stream.roundTripNanoseconds)) / 2),
    ("held back against jitter", milliseconds(stream.playoutDelayNanoseconds)),
    ("loudspeaker's buffer", milliseconds(engine.playbackFillNanoseconds)),
  ]
}

/// Prints the period, the stages, and their sum.
func printStages(_ figures: CallStatistics) {
  let period = milliseconds(figures.engine.capturePeriodNanoseconds)
  print(String(format: "The period is %.1f ms.", period))
  let parts = stages(figures)
  for part in parts {
    print(String(format: "%8.1f ms  ", part.milliseconds) + part.name)
  }
  let sum = parts.reduce(0) { $0 + $1.milliseconds }
  print(String(format: "%8.1f ms  ", sum) + "from mouth to ear")
}

/// Returns the faults of the devices; `peak` is the microphone's highest level, 0 to 1.
func faults(_ figures: CallStatistics, peak: Float) -> [String] {
  let engine = figures.engine
  var found: [String] = []
  if engine.overruns > 0 { found.append("capture faults: \(engine.overruns)") }
  if engine.underruns > 0 { found.append("playback faults: \(engine.underruns)") }
  if engine.lostFrames > 0 { found.append("lost frames: \(engine.lostFrames)") }
  if engine.isDeviceGone { found.append("the microphone or the loudspeaker is gone") }
  if peak < 1e-6 { found.append("the microphone gives digital silence") }
  if !figures.isRealTime { found.append("the voice thread has no real-time scheduling") }
  return found
}

/// Prints the figures of a call for 15 s, then the delay and the faults, and hangs up.
func measure(_ call: UUID, with phone: Phone) async {
  var last: CallStatistics?
  var peak: Float = 0
  for _ in 1...15 {
    try? await Task.sleep(for: .seconds(1))
    guard let figures = await phone.statistics() else { continue }
    print(line(figures))
    last = figures
    peak = max(peak, figures.engine.inputPeak)
  }
  if let last {
    printStages(last)
    let found = faults(last, peak: peak)
    print(found.isEmpty ? "No faults." : "Faults: \(found.joined(separator: "; ")).")
  }
  do {
    try await phone.end(call)
  } catch {
    print("Cannot hang up: \(error)")
  }
}

guard CommandLine.arguments.count == 4, let period = Double(CommandLine.arguments[3]) else {
  print("usage: Measure HEADSET sip:NAME@HOST PERIOD")
  print("PERIOD is what to ask the card for, in milliseconds.")
  exit(2)
}
let headset = CommandLine.arguments[1]
let address = CommandLine.arguments[2]

var configuration = PhoneConfiguration()
configuration.port = 0
configuration.hosts = [try await Phone.localHost(towards: address)]
configuration.devices.capture = .init(headset)
configuration.devices.playback = .init(headset)
configuration.ioBufferDuration = period / 1_000

let phone = Phone(configuration)
try await phone.start()
try await phone.call(address)
for await event in phone.events {
  switch event {
  case .connected(let call, let farSide):
    print("Connected with \(farSide).")
    Task { await measure(call, with: phone) }
  case .ended(_, let end):
    print("Ended: \(end).")
  case .error(let text):
    print("Problem: \(text).")
  default:
    break
  }
  if case .ended = event { break }
}
await phone.stop()
