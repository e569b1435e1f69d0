import CRawVoice
import CRealTime
import MediaTime
import RealTime
import Rig
import VoiceEngine

/// A call to itself that never sleeps: the voice loop, its filters, codec and playout, and its system calls, one
/// turn after the other.
///
/// **Thread safety:** one thread at a time.
final class UnpacedCall {
  private let time = SkippedTime()
  private let call: SteppedCall<TapeHeadset, OwnSocket, SkippedTime>
  private let begin: MonotonicInstant
  private let periodNanoseconds: Int64
  private var periods: Int64 = 0
  private let wakeUp: WakeUp

  /// Throws what a library or the system does.
  init(_ setting: CostSetting, saying speech: [Float], trace: EngineSettings.Trace) throws {
    let period = SampleRate.voice.frames(inNanoseconds: setting.periodNanoseconds)
    periodNanoseconds = SampleRate.voice.nanoseconds(of: period)
    wakeUp = try WakeUp()
    begin = time.now
    call = try SteppedCall(
      setting.configuration,
      device: TapeHeadset(speech, period: period, from: begin, in: time),
      transport: try OwnSocket(time: time),
      settings: EngineSettings(filters: setting.filters, trace: trace),
      time: time
    )
  }

  /// Goes on for `seconds`; returns the nanoseconds of processor time that this thread spent on it.
  func run(seconds: Int) -> Int64 {
    let end = time.now.advanced(byNanoseconds: Int64(seconds) * 1_000_000_000)
    let before = raw_processor_nanoseconds()
    while time.now < end {
      let period = begin.advanced(byNanoseconds: (periods + 1) * periodNanoseconds)
      let next = min(period, call.nextErrand ?? period)
      if next == period { periods += 1 }
      time.skip(to: next)
      // What waits for a device asks the system, and takes the event.
      wakeUp.signal()
      wakeUp.wait()
      wakeUp.acknowledge()
      call.turn()
    }
    return raw_processor_nanoseconds() - before
  }

  /// Packets that came back to be heard.
  var packetsReceived: Int64 { call.statistics?.packetsReceived ?? 0 }

  /// Frames of sound that had to be invented.
  var concealedFrames: Int64 { call.statistics?.concealedFrames ?? 0 }
}
