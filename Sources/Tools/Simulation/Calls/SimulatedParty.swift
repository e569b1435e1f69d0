import Glibc
import MediaCore
import RealTime
import SRTP
import VoiceEngine

/// One end of a simulated call: a machine with a headset, on which the voice loop runs.
final class SimulatedParty {
  private typealias Call = ManualVoiceLoop<
    ScriptedHeadset, SecureTransport<SimulatedTransport>, VirtualTime
  >

  let card: ScriptedSoundCard
  let firstTimestamp: RTPTimestamp
  private let lookAheadNanoseconds: Int64
  private let framesPerTick: Int64
  private let call: Call
  private let time = VirtualTime()
  private let begin: MonotonicInstant
  private let stops: [DeviceFault]
  private var generator: SeededGenerator
  private let lateness: Double
  /// Card that replaces unplugged sides with silence, as `RouteSupervisor` does in a real call.
  private let standIn: ScriptedSoundCard
  /// Time of the next turn of the voice thread.
  private(set) var nextTurn: MonotonicInstant
  /// Progress of this end, for the other end to wait for.
  let progress = Progress()
  private var awaySides: StreamDirections = []
  private var isBackSince: MonotonicInstant?
  /// Timestamp at the last call of `mouthToEar`, and the ticks of the far side's stream up to it.
  ///
  /// A timestamp alone wraps around after a day.
  private var newestPlayout: (timestamp: RTPTimestamp, ticks: Int64)?

  /// Time from plugging in to sound, in nanoseconds: the system finds the card, and a program opens
  /// it.
  private static let openingNanoseconds: Int64 = 100_000_000

  init(
    _ script: SimulatedCall.Party,
    _ configuration: StreamConfiguration,
    sending outgoing: SimulatedLink,
    receiving incoming: SimulatedLink,
    keys: SRTPKeys?,
    seed: UInt64
  ) throws {
    begin = time.now
    card = ScriptedSoundCard(script.card, time: time)
    var silence = ScriptedSoundCard.Script()
    (silence.rate, silence.period) = (script.card.rate, script.card.period)
    silence.isRecorded = false
    standIn = ScriptedSoundCard(silence, time: time)
    stops = script.card.faults.filter { $0.kind == .stopped }
    generator = SeededGenerator(seed: seed)
    lateness = Double(script.latenessNanoseconds)
    firstTimestamp = configuration.firstTimestamp
    call = try Call(
      configuration,
      device: ScriptedHeadset(card),
      transport: try Self.path(
        SimulatedTransport(sending: outgoing, receiving: incoming, time: time),
        keys
      ),
      settings: EngineSettings(filters: script.filters, trace: script.trace),
      time: time
    )
    lookAheadNanoseconds = call.lookAheadNanoseconds
    framesPerTick = Int64(SampleRate.voice.hertz / configuration.clockRate.hertz)
    nextTurn = begin
    nextTurn = wakeUp()
  }

  private static func path(
    _ path: consuming SimulatedTransport,
    _ keys: SRTPKeys?
  ) throws -> SecureTransport<SimulatedTransport> {
    guard let keys else { return SecureTransport(open: path) }
    return SecureTransport(path, under: try SRTPSession(keys))
  }

  var statistics: StreamStatistics? { call.statistics }
  var engineStatistics: EngineStatistics? { call.engineStatistics }

  /// Time of this end, which is that of its last turn.
  var now: MonotonicInstant { time.now }

  /// Runs the next turn.
  func turn() {
    time.advance(to: nextTurn)
    call.turn()
    keepDevice()
    nextTurn = wakeUp()
  }

  /// Runs all turns before `instant`, beside the other end on another thread.
  ///
  /// Each turn waits until packets that `other` has yet to send can only arrive later. They take at
  /// least `lead` nanoseconds, so `other` must have finished all turns up to `lead` before it.
  func run(before instant: MonotonicInstant, beside other: borrowing Progress, _ lead: Int64) {
    while nextTurn < instant {
      other.wait(for: nextTurn.advanced(byNanoseconds: 1 - lead))
      turn()
      progress.reach(nextTurn)
    }
  }

  // What is unplugged is replaced by silence at once, and returns when it is back.
  private func keepDevice() {
    let lost = card.goneSides.subtracting(awaySides)
    if !lost.isEmpty {
      awaySides.formUnion(lost)
      exchange(lost, for: standIn)
    }
    guard !awaySides.isEmpty, card.absentSides.isDisjoint(with: awaySides) else {
      return isBackSince = nil
    }
    guard let since = isBackSince else { return isBackSince = time.now }
    guard time.now.nanoseconds(since: since) >= Self.openingNanoseconds else { return }
    exchange(awaySides, for: card)
    awaySides = []
    isBackSince = nil
  }

  private func exchange(_ sides: StreamDirections, for card: ScriptedSoundCard) {
    do {
      try call.replace(sides, with: ScriptedHeadset(card, sides: sides))
    } catch {
      // Cards of a script always start, and the resampler of their rate was made before.
      preconditionFailure("a scripted card did not start: \(error)")
    }
  }

  // When the microphone has a period or the loop wants to, and a little later.
  private func wakeUp() -> MonotonicInstant {
    let microphone = awaySides.contains(.capture) ? standIn : card
    // A microphone that gives nothing is not waited for much longer than a period.
    let period = microphone.script.rate.nanoseconds(of: microphone.script.period)
    let idle = time.now.advanced(byNanoseconds: period / 4 * 5)
    let ready = max(
      min(microphone.nextPeriod ?? idle, call.nextTurn ?? idle, idle),
      time.now.advanced(byNanoseconds: 1_000)
    )
    let delay = lateness > 0 ? Int64(-lateness * log(1 - generator.unit())) : 0
    let woken = ready.advanced(byNanoseconds: delay)
    let passed = woken.nanoseconds(since: begin)
    for stop in stops where passed >= stop.at && passed < stop.at + stop.duration {
      return begin.advanced(byNanoseconds: stop.at + stop.duration)
    }
    return woken
  }

  /// Returns the delay of the frame that is decoded next, from the microphone of `other` to this
  /// loudspeaker, in nanoseconds.
  ///
  /// Nil before the first packet, during concealment and while the loudspeaker is unplugged. It
  /// must be called at least every eleven hours, as timestamps wrap around.
  func mouthToEar(from other: SimulatedParty) -> Int64? {
    guard let playout = call.playout, !card.goneSides.contains(.playback) else { return nil }
    let (timestamp, ticks) = newestPlayout ?? (other.firstTimestamp, 0)
    let playedTicks = ticks + Int64(playout.timestamp.ticks(since: timestamp))
    newestPlayout = (playout.timestamp, playedTicks)
    let captured = other.card.frames(ofVoice: playedTicks * framesPerTick)
    let mouth = other.card.instant(ofCaptured: captured)
    let queued = card.frames(ofVoice: Int64(playout.queuedFrames))
    let ear = card.instant(ofPlayed: card.written + queued)
    let processing = other.engineStatistics?.captureProcessingNanoseconds ?? 0
    return ear.nanoseconds(since: mouth) + other.lookAheadNanoseconds + processing
  }
}
