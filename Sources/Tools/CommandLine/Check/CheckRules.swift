import Foundation
import Localization
import MediaCore

/// Rules that judge measurements of a machine for calls.
///
/// Figures in, findings out: nothing here looks at the machine.
enum CheckRules {
  // MARK: Sound

  /// Largest drift of a usual sound card, in parts per million; more is a fault of the card or of
  /// the machine's clock.
  private static let usualDrift = 200.0
  /// Drift beyond that of any clock, in parts per million, so that sound must be missing.
  private static let brokenDrift = 1_000.0
  /// Drift in parts per million from which on a device has no clock at all: twice the nominal rate.
  private static let timelessDrift = 1e6
  private static let blockSeconds = 0.03
  /// Longest period, in milliseconds, that is judged good.
  private static let shortPeriod = 5.5
  /// Peak below which a microphone delivers nothing but digital silence, as a share of full scale.
  private static let deadPeak: Float = 1e-6

  /// Returns the findings about the devices that a call would take.
  ///
  /// `microphone` and `loudspeaker` are nil if there is none, for the reason `obstacle` if one is
  /// known.
  static func devices(
    microphone: DeviceChoices.Choice?,
    loudspeaker: DeviceChoices.Choice?,
    obstacle: String? = nil
  ) -> [CheckFinding] {
    [
      device(subject: "microphone", microphone, "--capture", obstacle),
      device(subject: "loudspeaker", loudspeaker, "--playback", obstacle),
    ]
  }

  private static func device(
    subject: LocalizationValue,
    _ choice: DeviceChoices.Choice?,
    _ option: String,
    _ obstacle: String?
  ) -> CheckFinding {
    guard let choice else {
      if let obstacle {
        return CheckFinding(
          subject: subject,
          verdict: .fault,
          text: "none was found: \(reason: obstacle)",
          advice: nil
        )
      }
      return .fault(
        subject: subject,
        saying: "none was found",
        advising: "plug a headset in, or try without one: \(option) null"
      )
    }
    return .good(subject: subject, saying: "\(choice.name): \(reason: choice.reason)")
  }

  /// Returns the finding about a card's mixer, of which `silentSides` are off or at the bottom.
  static func mixer(card: String, silentSides: [String]) -> CheckFinding {
    guard !silentSides.isEmpty else {
      return .good(subject: "mixer", saying: "\(card) is on and turned up")
    }
    return .advice(
      subject: "mixer",
      saying: "\(card) is off or at the bottom: \(reason: silentSides.joined(separator: " and "))",
      advising: "a call turns it up by itself; alsamixer does it now"
    )
  }

  /// Returns the findings about a headset that ran for `seconds`; a virtual one has no microphone.
  static func timing(
    _ timing: DeviceTiming,
    seconds: Double,
    hasMicrophone: Bool = true
  ) -> [CheckFinding] {
    guard !timing.isGone else {
      return [
        .fault(
          subject: "headset",
          saying: "it vanished while it was used",
          advising: "look at its cable and its battery"
        )
      ]
    }
    var findings = [
      periods(timing), drift(timing, seconds: seconds), continuity(timing, seconds: seconds),
    ]
    if hasMicrophone { findings.append(microphone(timing)) }
    return findings
  }

  private static func periods(_ timing: DeviceTiming) -> CheckFinding {
    let rates = "\(timing.captureRate.hertz)/\(timing.playbackRate.hertz) Hz"
    let periods = [timing.capturePeriodMilliseconds, timing.playbackPeriodMilliseconds]
    let lengths = String(format: "%.1f/%.1f ms", periods[0], periods[1])
    let figures = ["capturePeriodMs": periods[0], "playbackPeriodMs": periods[1]]
    guard periods.allSatisfy({ $0 <= shortPeriod }) else {
      return .advice(
        subject: "periods",
        saying: "periods of \(lengths) at \(rates)",
        advising: """
          shorter ones save twice their length in delay: look at the sound server's quantum, or \
          name the card itself by --headset hw:...
          """,
        figures
      )
    }
    return .good(subject: "periods", saying: "periods of \(lengths) at \(rates)", figures)
  }

  private static func continuity(_ timing: DeviceTiming, seconds: Double) -> CheckFinding {
    guard timing.lostFrames > 0 else {
      return .good(subject: "continuity", saying: "no sound was lost in \(Int(seconds)) s")
    }
    return .advice(
      subject: "continuity",
      saying: "\(timing.lostFrames) frames were lost in \(Int(seconds)) s",
      advising: "close programs that take the processor; real-time scheduling helps as well",
      ["lostFrames": Double(timing.lostFrames)]
    )
  }

  private static func microphone(_ timing: DeviceTiming) -> CheckFinding {
    guard timing.peak >= deadPeak else {
      return .advice(
        subject: "microphone",
        saying: "it gives nothing but digital silence",
        advising: "look for a mute switch on the headset, or in the desktop's sound settings"
      )
    }
    let level = 20 * log10(Double(timing.peak))
    return .good(
      subject: "microphone",
      saying: "it hears; peak \(Int(level.rounded())) dB",
      ["peakDB": level]
    )
  }

  private static func drift(_ timing: DeviceTiming, seconds: Double) -> CheckFinding {
    guard let capture = timing.captureDrift, let playback = timing.playbackDrift else {
      return .advice(
        subject: "clock drift",
        saying: "it could not be measured",
        advising: "measure for longer: --seconds 10"
      )
    }
    let sides = (String(format: "%+.0f", capture), String(format: "%+.0f", playback))
    let text: LocalizationValue = .init(
      localized: """
        microphone \(sides.0) ppm, loudspeaker \(sides.1) ppm against the system's clock, roughly
        """
    )
    let figures = ["captureDriftPpm": capture, "playbackDriftPpm": playback]
    guard max(capture, playback) <= timelessDrift else {
      return .fault(
        subject: "clock drift",
        saying: text,
        advising: "this device keeps no time, as ALSA's null does: name your headset by --headset",
        figures
      )
    }
    // A server moves sound in blocks, of which one more or less is no loss.
    let broken = brokenDrift + blockSeconds / seconds * 1e6
    guard abs(capture) <= broken, abs(playback) <= broken else {
      return .fault(
        subject: "clock drift",
        saying: text,
        advising: "sound is lost: take a longer period, --period 40, or the card itself",
        figures
      )
    }
    guard abs(capture) <= usualDrift, abs(playback) <= usualDrift else {
      return .advice(
        subject: "clock drift",
        saying: text,
        advising:
          "calls follow it; so much hints at a card that does not keep the rate that it reports",
        figures
      )
    }
    return .good(subject: "clock drift", saying: text, figures)
  }

  // MARK: System

  /// Limit of locked memory that suffices, in bytes: all that the program may ever use counts as
  /// locked.
  private static let lockedBytes = 2_000_000_000

  /// Returns the findings about real-time scheduling, locked memory, the sound server and the
  /// clock.
  static func system(_ state: SystemState) -> [CheckFinding] {
    [realTime(state), memory(state), server(state), clock(state)]
  }

  private static func realTime(_ state: SystemState) -> CheckFinding {
    if state.grantsRealTime {
      return .good(subject: "real time", saying: "the voice thread gets SCHED_FIFO")
    }
    if state.hasRealTimeKit {
      return .good(subject: "real time", saying: "the voice thread gets it by rtkit")
    }
    return .advice(
      subject: "real time",
      saying: "denied: a busy machine may interrupt the voice",
      advising:
        "sudo apt install rtkit, or allow it in /etc/security/limits.d: @audio - rtprio 20"
    )
  }

  private static func memory(_ state: SystemState) -> CheckFinding {
    guard let limit = state.lockableBytes, limit < lockedBytes else {
      return .good(subject: "memory lock", saying: "enough memory may be locked")
    }
    return .advice(
      subject: "memory lock",
      saying: """
        only \(limit / 1_000) kB may be locked: memory that is swapped out interrupts the voice
        """,
      advising: "allow it in /etc/security/limits.d: @audio - memlock unlimited",
      ["lockableBytes": Double(limit)]
    )
  }

  private static func server(_ state: SystemState) -> CheckFinding {
    guard !state.soundServers.isEmpty else {
      return .good(subject: "sound server", saying: "none runs: calls use the sound card itself")
    }
    return .good(
      subject: "sound server",
      saying: "\(state.soundServers.joined(separator: ", ")) runs"
    )
  }

  private static func clock(_ state: SystemState) -> CheckFinding {
    guard let isSynchronized = state.isClockSynchronized else {
      return .good(subject: "time", saying: "the system does not say what keeps the clock right")
    }
    guard !isSynchronized else {
      return .good(subject: "time", saying: "the clock is kept right by time servers")
    }
    return .advice(
      subject: "time",
      saying: "no time server keeps the clock right; certificates of SIP servers need the date",
      advising: "timedatectl set-ntp true"
    )
  }

  // MARK: Network

  /// Returns the findings about the ports of SIP, and about a firewall before them.
  static func ports(_ ports: [PortState], firewall: String?) -> [CheckFinding] {
    let taken = ports.filter { $0.reason != nil }
    let names = taken.map { "\($0.name) (\($0.reason ?? ""))" }.joined(separator: ", ")
    let free = ports.map(\.name).joined(separator: ", ")
    let first =
      taken.isEmpty
      ? CheckFinding.good(subject: "ports", saying: "\(free) are free")
      : .advice(
        subject: "ports",
        saying: "\(names): taken, perhaps by a sidetone that waits for calls",
        advising: """
          find the program by: ss -lpn 'sport >= 5060 and sport <= 5061'; or listen elsewhere: \
          --listen 0.0.0.0:5070
          """
      )
    guard let firewall else {
      return [first, .good(subject: "firewall", saying: "none was found")]
    }
    return [
      first,
      .advice(
        subject: "firewall",
        saying: "\(firewall) is on",
        advising: "let calls in: 5060/udp, 5060/tcp, 5061/tcp, and UDP for the voice"
      ),
    ]
  }

  /// Returns the finding about the name servers by the time of their answer; nil if there was none.
  static func names(_ milliseconds: Double?) -> CheckFinding {
    guard let milliseconds else {
      return .advice(
        subject: "name servers",
        saying: "names of other networks are not found; calls by address work",
        advising: "look at /etc/resolv.conf and at the connection to the Internet"
      )
    }
    return .good(
      subject: "name servers",
      saying: "they answer, in \(Int(milliseconds.rounded())) ms",
      ["answerMs": milliseconds]
    )
  }

  /// Returns the finding about a call to oneself by its delay and that of each stage, in
  /// milliseconds.
  ///
  /// The delay is nil if nothing was heard.
  static func loopback(
    _ delay: Double?,
    stages: [(name: String, milliseconds: Double)]
  ) -> CheckFinding {
    guard let delay else {
      return .fault(
        subject: "test call",
        saying: "a call to oneself was not heard",
        advising: "look at what it says: sidetone loopback"
      )
    }
    let parts = stages.filter { $0.milliseconds >= 0.05 }.map {
      String(localizedReason: $0.name) + String(format: " %.1f", $0.milliseconds)
    }
    let whole = String(format: "%.1f", delay)
    return .good(
      subject: "test call",
      saying: "\(whole) ms from mouth to ear (\(parts.joined(separator: ", ")))",
      ["mouthToEarMs": delay]
    )
  }

  // MARK: Path

  /// Longest round trip, in milliseconds, at which a call is easy to follow (ITU-T G.114 has 150
  /// one way).
  ///
  /// `mostLost` is the largest share of lost probes that redundancy makes up for.
  private static let longestRoundTrip = 300.0
  private static let mostLost = 0.1
  /// Smallest MTU in bytes that IPv6 allows a link to have (RFC 8200 section 5); voice needs less
  /// than a quarter.
  private static let smallestMTU = 1_280

  /// Returns the findings about the path to a far side.
  static func path(_ path: PathTiming) -> [CheckFinding] {
    guard path.asked > 0 else {
      return path.takesTLS ? [size(path.largestPacket), secure(path)] : [absent]
    }
    guard !path.roundTrips.isEmpty else {
      guard path.late == 0 else {
        return [
          .advice(
            subject: "way",
            saying: "there and back takes longer than 450 ms",
            advising: "talk is hard at such a delay: a nearer server or another network helps"
          ), size(path.largestPacket), secure(path),
        ]
      }
      return [absent]
    }
    return [way(path), size(path.largestPacket), router(path), secure(path)]
  }

  private static func way(_ path: PathTiming) -> CheckFinding {
    let sorted = path.roundTrips.sorted()
    let (median, worst) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
    // One that was answered late was lost once.
    let lost = 1 - Double(sorted.count) / Double(path.asked)
    let steps = zip(path.roundTrips, path.roundTrips.dropFirst()).map { abs($0 - $1) }
    let jitter = steps.reduce(0, +) / Double(max(1, steps.count))
    let times = [median, worst, jitter].map { String(format: "%.1f ms", $0) }
    let share = "\(Int((lost * 100).rounded()))"
    let text: LocalizationValue = .init(
      localized: """
        there and back \(times[0]) (95 %: \(times[1])), jitter \(times[2]), lost \(share) %
        """
    )
    let figures = [
      "roundTripMs": median, "roundTrip95Ms": worst, "jitterMs": jitter, "lostPercent": lost * 100,
    ]
    guard median <= longestRoundTrip, lost <= mostLost else {
      return .advice(
        subject: "way",
        saying: text,
        advising: "a cable instead of Wi-Fi, or a nearer server, makes the most of it",
        figures
      )
    }
    return .good(subject: "way", saying: text, figures)
  }

  private static func router(_ path: PathTiming) -> CheckFinding {
    guard path.isTranslated else {
      return .good(subject: "routers", saying: "none on the way changes addresses")
    }
    return .advice(
      subject: "routers",
      saying: "one on the way changes addresses (NAT)",
      advising: "calls back need an account at a SIP server: sidetone account add"
    )
  }

  private static let absent = CheckFinding.fault(
    subject: "far side",
    saying: "it does not answer",
    advising: "is it running, with its port open in its firewall? There: sidetone check"
  )

  private static func secure(_ path: PathTiming) -> CheckFinding {
    guard !path.takesTLS else {
      return .good(
        subject: "TLS",
        saying: "its port takes connections, so that who is called can be hidden on the way"
      )
    }
    return .advice(
      subject: "TLS",
      saying: "its port takes no connection: the voice may be encrypted, the signalling is not",
      advising: "open the port after that of SIP, by default 5061/tcp, on the far side"
    )
  }

  private static func size(_ bytes: Int?) -> CheckFinding {
    guard let bytes else {
      return .advice(subject: "packets", saying: "no size is known", advising: "is there a route?")
    }
    let figures = ["mtuBytes": Double(bytes)]
    guard bytes >= smallestMTU else {
      return .advice(
        subject: "packets",
        saying: "up to \(bytes) bytes",
        advising: "a tunnel makes them small",
        figures
      )
    }
    return .good(subject: "packets", saying: "up to \(bytes) bytes", figures)
  }
}
