import Testing

/// A disturbance of a call's sound, and the effects that it may have.
struct Scenario: Sendable, CustomTestStringConvertible {
  let name: String
  /// Duration of the call, in seconds.
  var seconds = 15
  /// Commands that the machine's shell runs before the call.
  var before = "true"
  /// Commands for the far ends of the cards' cables, run before the call.
  var cables = "true"
  /// Commands that run once the call is connected.
  var faults = "sleep 1"
  /// Options of both programs besides their devices.
  var options = "--period 4"
  /// Options for the caller's sound devices.
  var devices = "--headset hw:A,1"
  /// Longest silence that is allowed, in milliseconds.
  var gapMilliseconds = 30.0
  /// True if sound is impossible between the first and the last mark, so that this time is allowed
  /// in addition.
  var isFaultSilent = false
  /// False if the machine's script reports the faults itself, and no recording is examined.
  var isHeard = true
  /// True if the network's own delays matter as well, so that the delay is not judged.
  var isOfTheNetwork = false

  /// True if the cables keep the clock's time.
  ///
  /// A cable that converts 44.1 kHz loses several milliseconds a second.
  var isTimed = true

  /// Allowed change of the delay after a fault, in milliseconds.
  ///
  /// Three periods of the card: one for each side's late wake-up, and one for the phase of both. A
  /// fault whose sound stays queued leaves tens of milliseconds.
  static let delayTolerance = 12.0

  /// A line of shell that calls the function `scenario` of the machine.
  var invocation: String {
    isHeard
      ? "options='\(options)' devices='\(devices)' before='\(before)' cables='\(cables)' "
        + "scenario \(name) \(seconds) '\(faults)'"
      : name
  }

  var testDescription: String { name }

  /// All scenarios, in the order in which they run.
  static let all = plain + drifting + layouts + stopped + disturbed + times + unplugged + networks

  private static let plain =
    [
      Scenario(name: "plain", seconds: 12)
    ]
    + ["2.9", "3.7", "5", "6.1", "7.3", "9.7", "11.3", "13.1"].map {
      Scenario(name: "period-\($0)", seconds: 12, options: "--period \($0)")
    } + [busy]

  private static let busy =
    Scenario(
      name: "busy-at-answer",
      seconds: 18,
      before: "hold hw:B,1",
      faults: "sleep 6; release; sleep 8",
      gapMilliseconds: 300
    )

  // 300 ppm apart, more than twice what two sound cards differ by.
  private static let drifting = [
    Scenario(name: "fast-card", seconds: 30, before: "shift_card B 100030"),
    Scenario(name: "slow-card", seconds: 30, before: "shift_card B 99970"),
  ]

  // What cards may be like: they take one layout only, as headsets do.
  private static let layouts =
    [
      ("mono", "S16_LE 1 48000"), ("stereo", "S16_LE 2 48000"), ("wide", "S32_LE 2 48000"),
      ("packed", "S24_3LE 1 48000"),
      ("padded", "S24_LE 2 48000"), ("float", "FLOAT_LE 1 48000"), ("44100", "S16_LE 2 44100"),
      ("16000", "S16_LE 1 16000"), ("96000", "S32_LE 2 96000"),
    ].map { name, layout in
      Scenario(
        name: "card-\(name)",
        seconds: 12,
        cables: "layout \(layout)",
        isTimed: name != "44100"
      )
    }
    + ["mixer", "killed", "profile", "memory", "newcomer", "drifting", "lossy_calls"]
    .map { Scenario(name: $0, isHeard: false) }

  private static let stopped = [
    ("stopped-50", 50_000), ("stopped-200", 200_000), ("stopped-500", 500_000),
    ("stopped-2000", 2_000_000),
  ].map { name, microseconds in
    Scenario(
      name: name,
      seconds: 18,
      faults: "sleep 7; freeze \(microseconds); sleep 6",
      isFaultSilent: true
    )
  }

  private static let disturbed = [
    Scenario(name: "busy", seconds: 18, faults: "sleep 5; busy 6; sleep 4"),
    Scenario(name: "stalls", seconds: 46, faults: "sleep 5; stall 12000; sleep 4"),
  ]

  private static let times = [
    Scenario(
      name: "suspended",
      seconds: 20,
      faults: "sleep 7; suspend; sleep 6",
      gapMilliseconds: 300,
      isFaultSilent: true
    ),
    Scenario(
      name: "clock-set",
      faults: "sleep 5; set_clock 10800; sleep 3; set_clock -21600; sleep 4"
    ),
  ]

  private static let unplugged = [
    Scenario(
      name: "headset-replugged",
      seconds: 21,
      faults: "sleep 7; unplug 1; sleep 5; plug 1; sleep 6",
      gapMilliseconds: 300
    ),
    Scenario(
      name: "speaker-replugged",
      seconds: 21,
      faults: "sleep 7; unplug 0; sleep 5; plug 0; sleep 6",
      gapMilliseconds: 300,
      isFaultSilent: true
    ),
    Scenario(
      name: "microphone-replugged",
      seconds: 21,
      faults: "sleep 7; unplug 0; sleep 5; plug 0; sleep 6",
      devices: "--capture hw:A,1 --playback hw:C,0",
      gapMilliseconds: 300,
      isFaultSilent: true
    ),
    Scenario(
      name: "all-replugged",
      seconds: 21,
      faults: "sleep 7; unplug 0; unplug 1; unplug 2; sleep 4; plug 2; plug 1; plug 0; sleep 6",
      gapMilliseconds: 300,
      isFaultSilent: true
    ),
  ]

  private static let networks = [
    Scenario(
      name: "netem-jitter",
      before: "network delay 20ms 5ms",
      gapMilliseconds: 60,
      isOfTheNetwork: true
    ),
    Scenario(
      name: "netem-loss",
      before: "network delay 20ms loss 3% reorder 5%",
      gapMilliseconds: 100,
      isOfTheNetwork: true
    ),
    Scenario(
      name: "netem-blackout",
      seconds: 28,
      faults: "sleep 7; network loss 100%; sleep 10; network delay 0ms; sleep 8",
      gapMilliseconds: 1_000,
      isFaultSilent: true,
      isOfTheNetwork: true
    ),
  ]
}
