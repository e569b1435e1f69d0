import ProgramRig
import CRawVoice
import CLinux
import Glibc
import MediaCore
import RealTime
import Rig
import VoiceEngine

/// A call to itself that never sleeps: the voice loop, its filters, codec and playout, and its
/// system calls, one turn after the other.
///
/// **Thread safety:** one thread at a time.
final class UnpacedCall {
  private let time = SkippedTime()
  private let call: ManualVoiceLoop<TapeHeadset, OwnSocket, SkippedTime>
  private let begin: MonotonicInstant
  private let periodNanoseconds: Int64
  private var periods: Int64 = 0
  /// What a device would wake its thread by: an event that was given many times, each of which is
  /// taken by itself.
  private var news: pollfd

  /// Throws what a library or the system does.
  init(_ setting: CostSetting, saying speech: [Float], trace: EngineSettings.Trace) throws {
    let period = SampleRate.voice.frames(inNanoseconds: setting.periodNanoseconds)
    periodNanoseconds = SampleRate.voice.nanoseconds(of: period)
    let event = eventfd(1 << 30, CInt(EFD_SEMAPHORE) | CInt(EFD_NONBLOCK))
    guard event >= 0 else { throw SystemError(operation: "eventfd", code: errno) }
    news = pollfd(fd: event, events: Int16(POLLIN), revents: 0)
    begin = time.now
    time.skip(to: begin)
    call = try ManualVoiceLoop(
      setting.configuration,
      device: TapeHeadset(speech, period: period, from: begin, in: time),
      transport: try OwnSocket(time: time),
      settings: EngineSettings(filters: setting.filters, trace: trace),
      time: time
    )
  }

  deinit { close(news.fd) }

  /// Goes on for `seconds`; returns the nanoseconds of processor time that this thread spent on it.
  func run(seconds: Int) -> Int64 {
    let end = time.reached.advanced(byNanoseconds: Int64(seconds) * 1_000_000_000)
    let before = raw_processor_nanoseconds()
    while time.reached < end {
      let period = begin.advanced(byNanoseconds: (periods + 1) * periodNanoseconds)
      let next = min(period, call.nextErrand ?? period)
      if next == period { periods += 1 }
      time.skip(to: next)
      // What waits for a device asks the system, and takes the event, which another thread signals.
      _ = unsafe realtime_poll(&news, 1, periodNanoseconds)
      _ = realtime_event_take(news.fd)
      call.turn()
    }
    return raw_processor_nanoseconds() - before
  }

  /// Packets that came back to be heard.
  var packetsReceived: Int64 { call.statistics?.packetsReceived ?? 0 }

  /// Frames of sound that had to be invented.
  var concealedFrames: Int64 { call.statistics?.concealedFrames ?? 0 }
}
