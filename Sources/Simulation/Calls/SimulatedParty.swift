import Glibc
import MediaTime
import RealTime
import VoiceEngine

/// One end of a simulated call: a machine with a headset, on which the voice loop runs.
final class SimulatedParty {
  private typealias Call = SteppedCall<ScriptedHeadset, SimulatedTransport, VirtualTime>

  let card: ScriptedSoundCard
  let firstTimestamp: RTPTimestamp
  private let lookAheadNanoseconds: Int64
  private let framesPerTick: Int64
  private let call: Call
  private let time: VirtualTime
  private let begin: MonotonicInstant
  private let stops: [DeviceFault]
  private var generator: SeededGenerator
  private let lateness: Double

  /// Without a microphone's clock the loop wakes this often.
  private static let idleNanoseconds: Int64 = 2_500_000

  init(
    _ script: SimulatedCall.Party,
    _ configuration: StreamConfiguration,
    sending outgoing: SimulatedLink,
    receiving incoming: SimulatedLink,
    time: VirtualTime,
    seed: UInt64
  ) throws {
    self.time = time
    begin = time.now
    card = ScriptedSoundCard(script.card, time: time)
    stops = script.card.faults.filter { $0.kind == .stopped }
    generator = SeededGenerator(seed: seed)
    lateness = Double(script.latenessNanoseconds)
    firstTimestamp = configuration.firstTimestamp
    call = try Call(
      configuration,
      device: ScriptedHeadset(card),
      transport: SimulatedTransport(sending: outgoing, receiving: incoming, time: time),
      settings: EngineSettings(filters: script.filters, trace: script.trace),
      time: time
    )
    lookAheadNanoseconds = call.lookAheadNanoseconds
    framesPerTick = Int64(SampleRate.voice.hertz / configuration.clockRate.hertz)
  }

  var statistics: StreamStatistics? { call.statistics }
  var engineStatistics: EngineStatistics? { call.engineStatistics }

  func turn() { call.turn() }

  /// When the voice thread runs next: when the microphone has a period, and a little later.
  func nextTurn() -> MonotonicInstant {
    let idle = time.now.advanced(byNanoseconds: Self.idleNanoseconds)
    let ready = max(min(card.nextPeriod ?? idle, idle), time.now.advanced(byNanoseconds: 1_000))
    let delay = lateness > 0 ? Int64(-lateness * log(1 - generator.unit())) : 0
    let woken = ready.advanced(byNanoseconds: delay)
    let passed = woken.nanoseconds(since: begin)
    for stop in stops where passed >= stop.at && passed < stop.at + stop.duration {
      return begin.advanced(byNanoseconds: stop.at + stop.duration)
    }
    return woken
  }

  /// From the microphone of `other` to this loudspeaker, in nanoseconds, of what is decoded next; nil while nothing is.
  func mouthToEar(from other: SimulatedParty) -> Int64? {
    guard let playout = call.playout, !card.isGone else { return nil }
    let ticks = Int64(playout.timestamp.ticks(since: other.firstTimestamp))
    let captured = ticks * framesPerTick
    let mouth = other.card.instant(ofCaptured: captured)
    let ear = card.instant(ofPlayed: card.written + Int64(playout.queuedFrames))
    return ear.nanoseconds(since: mouth) + other.lookAheadNanoseconds
  }
}
