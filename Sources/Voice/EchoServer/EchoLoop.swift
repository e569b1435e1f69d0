import CLinux
import DeviceTiming
package import MediaCore
package import RealTime
import Synchronization
package import VoiceEngine

/// The loop of an echo server's thread: each stream sends back what it receives.
///
/// No sound card takes part. Once a period each stream is received, rendered and sent again, so a
/// caller hears itself after the delay of a jitter buffer and a packet. No stream sends more
/// packets of voice than it has received.
///
/// **Thread safety:** one thread at a time.
package final class EchoLoop<
  Transport: PacketTransport & ~Copyable,
  Time: TimeSource
> {
  /// Lateness, in nanoseconds, beyond which periods are skipped: a gap is sent instead of a burst.
  private static var longestStall: Int64 { 200_000_000 }
  private static var reportNanoseconds: Int64 { 100_000_000 }

  private let signals: LoopSignals
  private let period: FrameCount
  private var lateness: RingProducer<Int64>
  /// Time at which the first period began.
  private let origin: MonotonicInstant
  /// Frames at 48 kHz that were echoed or skipped since then.
  private var frames: Int64 = 0
  private var nextReport: MonotonicInstant
  // SAFETY: one thread runs the loop, and no stream calls back into it.
  @safe @exclusivity(unchecked) private var clock: DeviceClock
  @safe @exclusivity(unchecked) private var sound: SampleBuffer
  @safe @exclusivity(unchecked) private var datagram = ByteBuffer(
    repeating: 0,
    count: VoiceStream.maximumDatagram
  )
  @safe @exclusivity(unchecked) private var streams: StreamTable<Transport>
  private let time: Time

  /// Creates a loop that begins now, with `period` frames at 48 kHz at a time, 120 to 4096.
  ///
  /// The lateness of each period is written to `lateness`, in nanoseconds.
  package init(
    period: FrameCount,
    streams: consuming StreamTable<Transport>,
    signals: LoopSignals,
    lateness: consuming RingProducer<Int64>,
    time: Time
  ) {
    self.period = max(120, min(period, 4_096))
    self.streams = streams
    self.signals = signals
    self.lateness = lateness
    self.time = time
    origin = time.now
    nextReport = time.now
    clock = DeviceClock(period: self.period, rate: .voice)
    sound = SampleBuffer(repeating: 0, count: self.period)
  }

  /// Runs until the stop flag is set, then sends an RTCP BYE on every stream.
  func run() {
    var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 1)
    descriptors[0] = pollfd(fd: signals.wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
    while !signals.isStopping.load(ordering: .acquiring) {
      let left = nextPeriod.nanoseconds(since: time.now)
      _ = unsafe realtime_poll(descriptors.address, 1, max(0, left))
      if descriptors[0].revents != 0 { signals.wakeUp.acknowledge() }
      turn()
    }
    streams.releaseAll(sendingFrom: &datagram, by: time)
  }

  /// Time at which the next period is over.
  package var nextPeriod: MonotonicInstant {
    origin.advanced(byNanoseconds: SampleRate.voice.nanoseconds(of: Int(frames) + period))
  }

  /// Executes the pending commands, and runs a period if one is due.
  ///
  /// An overloaded thread thus still executes commands, and ends when it is asked to.
  package func turn() {
    streams.obey(isInterrupted: false, sendingFrom: &datagram, by: time)
    skipStall()
    if nextPeriod <= time.now { echo() }
    guard time.now >= nextReport else { return }
    nextReport = time.now.advanced(byNanoseconds: Self.reportNanoseconds)
    streams.report(at: time.now, sendingFrom: &datagram, by: time)
  }

  private func skipStall() {
    let late = time.now.nanoseconds(since: nextPeriod)
    guard late > Self.longestStall else { return }
    _ = lateness.write(late)
    let lost = SampleRate.voice.frames(inNanoseconds: late) / period * period
    frames += Int64(lost)
    streams.forEach { $0.stream.skip(lost) }
  }

  private func echo() {
    let now = time.now
    // A full ring drops samples of a statistic.
    _ = lateness.write(now.nanoseconds(since: nextPeriod))
    frames += Int64(period)
    clock.update(frames: frames, isDry: false, at: now)
    streams.forEach { box in
      box.receive(&datagram, at: now, playback: clock)
      box.passDigitsOn(signals)
      sound.fill(0, count: period)
      box.stream.render(addingTo: &sound, count: period, at: clock.now)
      if box.stream.mayEcho(period) {
        box.stream.push(sound, count: period, isMuted: box.isMuted)
        box.send(&datagram)
      } else {
        box.stream.skip(period)
      }
    }
  }
}

// SAFETY: made by the engine and handed to its thread before that starts; only that thread touches
// it from then on.
extension EchoLoop: @unchecked Sendable {}
