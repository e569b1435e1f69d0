import Foundation
import MediaCore

/// What measurements mean for calls.
///
/// Figures in, findings out: nothing here looks at the machine.
enum CheckRules {
  // MARK: Sound

  /// Two sound cards differ by less than this, in parts per million; more is a fault of the card
  /// or of the machine's clock.
  private static let usualDrift = 200.0
  /// A period that is longer than this is heard as delay, in milliseconds.
  private static let shortPeriod = 5.5
  /// A microphone below this hears nothing at all, as a share of its range.
  private static let deadPeak: Float = 1e-6

  /// The devices that a call would take; nil where there is none.
  static func devices(
    microphone: DeviceChoices.Choice?,
    loudspeaker: DeviceChoices.Choice?
  ) -> [CheckFinding] {
    [("microphone", microphone, "--capture"), ("loudspeaker", loudspeaker, "--playback")].map {
      subject,
      choice,
      option in
      guard let choice else {
        return .fault(
          subject,
          "none was found",
          "plug a headset in, or try without one: \(option) null"
        )
      }
      return .good(subject, "\(choice.name): \(choice.reason)")
    }
  }

  /// A card's mixer: whether anything on the voice's way is off or at the bottom.
  static func mixer(card: String, silentSides: [String]) -> CheckFinding {
    guard !silentSides.isEmpty else { return .good("mixer", "\(card) is on and turned up") }
    return .advice(
      "mixer",
      "the \(silentSides.joined(separator: " and the ")) of \(card) is off or at the bottom",
      "a call turns it up by itself; alsamixer does it now"
    )
  }

  /// What came of running the headset; a made-up one has no microphone.
  static func timing(
    _ timing: DeviceTiming,
    seconds: Double,
    hasMicrophone: Bool = true
  ) -> [CheckFinding] {
    guard !timing.isGone else {
      return [
        .fault("headset", "it vanished while it was used", "look at its cable and its battery")
      ]
    }
    var findings: [CheckFinding] = []
    let rates = "\(timing.captureRate.hertz) and \(timing.playbackRate.hertz) Hz"
    let periods = [timing.capturePeriodMilliseconds, timing.playbackPeriodMilliseconds]
    let text = String(format: "periods of %.1f and %.1f ms at %@", periods[0], periods[1], rates)
    let figures = ["capturePeriodMs": periods[0], "playbackPeriodMs": periods[1]]
    findings.append(
      periods.allSatisfy { $0 <= shortPeriod }
        ? .good("periods", text, figures)
        : .advice(
          "periods",
          text,
          "shorter ones save twice their length in delay: look at the sound server's quantum, or "
            + "name the card itself by --headset hw:...",
          figures
        )
    )
    findings.append(drift(timing))
    findings.append(
      timing.lostFrames == 0
        ? .good("continuity", String(format: "no sound was lost in %.0f s", seconds))
        : .advice(
          "continuity",
          "\(timing.lostFrames) frames were lost in \(Int(seconds)) s",
          "close programs that take the processor; real-time scheduling helps as well",
          ["lostFrames": Double(timing.lostFrames)]
        )
    )
    if !hasMicrophone { return findings }
    if timing.peak < deadPeak {
      findings.append(
        .advice(
          "microphone",
          "it gives nothing but digital silence",
          "look for a mute switch on the headset, or in the desktop's sound settings"
        )
      )
    } else {
      let level = 20 * log10(Double(timing.peak))
      findings.append(
        .good("microphone", String(format: "it hears; peak %.0f dB", level), ["peakDB": level])
      )
    }
    return findings
  }

  private static func drift(_ timing: DeviceTiming) -> CheckFinding {
    guard let capture = timing.captureDrift, let playback = timing.playbackDrift else {
      return .advice(
        "clock drift",
        "it could not be measured",
        "measure for longer: --seconds 10"
      )
    }
    let text = String(
      format: "microphone %+.0f ppm, loudspeaker %+.0f ppm against the system's clock, roughly",
      capture,
      playback
    )
    let figures = ["captureDriftPpm": capture, "playbackDriftPpm": playback]
    guard abs(capture) <= usualDrift, abs(playback) <= usualDrift else {
      return .advice(
        "clock drift",
        text,
        "calls follow it; so much hints at a card that does not keep the rate that it reports",
        figures
      )
    }
    return .good("clock drift", text, figures)
  }

  // MARK: System

  /// All that the program may ever use counts when it is locked, in bytes.
  private static let lockedBytes = 2_000_000_000

  /// What the system grants.
  static func system(_ state: SystemState) -> [CheckFinding] {
    [realTime(state), memory(state), server(state), clock(state)]
  }

  private static func realTime(_ state: SystemState) -> CheckFinding {
    if state.grantsRealTime { return .good("real time", "the voice thread gets SCHED_FIFO") }
    if state.hasRealTimeKit { return .good("real time", "the voice thread gets it by rtkit") }
    return .advice(
      "real time",
      "denied: a busy machine may interrupt the voice",
      "sudo apt install rtkit, or allow it in /etc/security/limits.d: @audio - rtprio 20"
    )
  }

  private static func memory(_ state: SystemState) -> CheckFinding {
    guard let limit = state.lockableBytes, limit < lockedBytes else {
      return .good("memory lock", "enough memory may be locked")
    }
    return .advice(
      "memory lock",
      "only \(limit / 1_000) kB may be locked: memory that is swapped out interrupts the voice",
      "allow it in /etc/security/limits.d: @audio - memlock unlimited",
      ["lockableBytes": Double(limit)]
    )
  }

  private static func server(_ state: SystemState) -> CheckFinding {
    state.soundServers.isEmpty
      ? .good("sound server", "none runs: calls use the sound card itself")
      : .good("sound server", "\(state.soundServers.joined(separator: ", ")) runs")
  }

  private static func clock(_ state: SystemState) -> CheckFinding {
    guard let isSynchronized = state.isClockSynchronized else {
      return .good("time", "the system does not say what keeps the clock right")
    }
    guard !isSynchronized else { return .good("time", "the clock is kept right by time servers") }
    return .advice(
      "time",
      "no time server keeps the clock right; certificates of SIP servers need the date",
      "timedatectl set-ntp true"
    )
  }

  // MARK: Network

  /// The ports of SIP, and a firewall before them.
  static func ports(_ ports: [PortState], firewall: String?) -> [CheckFinding] {
    let taken = ports.filter { $0.reason != nil }
    var findings: [CheckFinding] = []
    if taken.isEmpty {
      findings.append(.good("ports", "\(ports.map(\.name).joined(separator: ", ")) are free"))
    } else {
      let names = taken.map { "\($0.name) (\($0.reason ?? ""))" }.joined(separator: ", ")
      findings.append(
        .advice(
          "ports",
          "\(names): taken, perhaps by a sidetone that waits for calls",
          "find the program by: ss -lpn 'sport >= 5060 and sport <= 5061'; or listen elsewhere: "
            + "--listen 0.0.0.0:5070"
        )
      )
    }
    guard let firewall else { return findings + [.good("firewall", "none was found")] }
    return findings + [
      .advice(
        "firewall",
        "\(firewall) is on",
        "let calls in: 5060/udp, 5060/tcp, 5061/tcp, and UDP for the voice"
      )
    ]
  }

  /// The answer of the name servers, with its time; nil if there was none.
  static func names(_ milliseconds: Double?) -> CheckFinding {
    guard let milliseconds else {
      return .advice(
        "name servers",
        "names of other networks are not found; calls by address work",
        "look at /etc/resolv.conf and at the connection to the Internet"
      )
    }
    let text = String(format: "they answer, in %.0f ms", milliseconds)
    return .good("name servers", text, ["answerMs": milliseconds])
  }

  /// A call to oneself: its delay, and where it goes by stage, in milliseconds.
  static func loopback(
    _ delay: Double?,
    stages: [(name: String, milliseconds: Double)]
  ) -> CheckFinding {
    guard let delay else {
      return .fault(
        "test call",
        "a call to oneself was not heard",
        "look at what it says: sidetone loopback"
      )
    }
    let parts = stages.filter { $0.milliseconds >= 0.05 }.map {
      String(format: "%@ %.1f", $0.name, $0.milliseconds)
    }
    return .good(
      "test call",
      String(format: "%.1f ms from mouth to ear (", delay) + parts.joined(separator: ", ") + ")",
      ["mouthToEarMs": delay]
    )
  }

  // MARK: Path

  /// Beyond these a call is hard to follow: there and back in milliseconds (ITU-T G.114 has 150 one
  /// way), and a share of lost questions that redundancy does not make up for.
  private static let longestRoundTrip = 300.0
  private static let mostLost = 0.1
  /// IPv6 demands so much of every link (RFC 8200 section 5); voice needs less than a quarter.
  private static let smallestMTU = 1_280

  /// The way to a far side.
  static func path(_ path: PathTiming) -> [CheckFinding] {
    guard path.asked > 0 else {
      return path.takesTLS ? [size(path.largestPacket), secure(path)] : [absent]
    }
    guard !path.roundTrips.isEmpty else {
      guard path.late == 0 else {
        return [
          .advice(
            "way",
            "there and back takes longer than 450 ms",
            "talk is hard at such a delay: a nearer server or another network helps"
          ), size(path.largestPacket), secure(path),
        ]
      }
      return [absent]
    }
    let sorted = path.roundTrips.sorted()
    let (median, worst) = (sorted[sorted.count / 2], sorted[sorted.count * 95 / 100])
    // One that was answered late was lost once.
    let lost = 1 - Double(sorted.count) / Double(path.asked)
    let steps = zip(path.roundTrips, path.roundTrips.dropFirst()).map { abs($0 - $1) }
    let jitter = steps.reduce(0, +) / Double(max(1, steps.count))
    let text = String(
      format: "there and back %.1f ms (95 %%: %.1f ms), jitter %.1f ms, lost %.0f %%",
      median,
      worst,
      jitter,
      lost * 100
    )
    let figures = [
      "roundTripMs": median, "roundTrip95Ms": worst, "jitterMs": jitter, "lostPercent": lost * 100,
    ]
    let isGood = median <= longestRoundTrip && lost <= mostLost
    return [
      isGood
        ? .good("way", text, figures)
        : .advice(
          "way",
          text,
          "a cable instead of Wi-Fi, or a nearer server, makes the most of it",
          figures
        ),
      size(path.largestPacket),
      path.isTranslated
        ? .advice(
          "routers",
          "one on the way changes addresses (NAT)",
          "calls back need an account at a SIP server: sidetone account add"
        ) : .good("routers", "none on the way changes addresses"),
      secure(path),
    ]
  }

  private static let absent = CheckFinding.fault(
    "far side",
    "it does not answer",
    "is it running, with its port open in its firewall? There: sidetone check"
  )

  private static func secure(_ path: PathTiming) -> CheckFinding {
    path.takesTLS
      ? .good("TLS", "its port takes connections, so that who is called can be hidden on the way")
      : .advice(
        "TLS",
        "its port takes no connection: the voice may be encrypted, the signalling is not",
        "open the port after that of SIP, by default 5061/tcp, on the far side"
      )
  }

  private static func size(_ bytes: Int?) -> CheckFinding {
    guard let bytes else { return .advice("packets", "no size is known", "is there a route?") }
    let figures = ["mtuBytes": Double(bytes)]
    guard bytes >= smallestMTU else {
      return .advice("packets", "up to \(bytes) bytes", "a tunnel makes them small", figures)
    }
    return .good("packets", "up to \(bytes) bytes", figures)
  }
}
