package import MediaCore
package import RealTime
import Synchronization
package import VoiceEngine

/// Echo service: a thread that sends back to each far side the sound it receives, without a sound
/// card.
///
/// **Life cycle:** the initialiser starts the thread; `stop` ends it and releases streams and
/// sockets, and is called at the latest by `deinit`.
/// **Thread safety:** every method may be called from any thread.
package final class EchoEngine<Transport: PacketTransport & ~Copyable>: Sendable {
  /// Streams that are echoed.
  package let streams: VoiceStreams<Transport>

  private let lateness: Mutex<RingConsumer<Int64>>
  private let thread: LoopThread

  /// Starts a thread that echoes `period` frames at 48 kHz at a time, 120 to 4096.
  ///
  /// Throws the system's error.
  package init(period: FrameCount) throws {
    let signals = try LoopSignals()
    let streams = VoiceStreams<Transport>(signals)
    var lateness = RingProducer<Int64>(capacity: 65_536)
    let reader = lateness.makeConsumer()
    let loop = EchoLoop<Transport, SystemTime>(
      period: period,
      streams: streams.makeTable(),
      signals: signals,
      lateness: lateness,
      time: SystemTime()
    )
    self.streams = streams
    self.lateness = Mutex(reader)
    thread = try LoopThread(signals, name: "echo") { loop.run() }
  }

  deinit {
    stop()
  }

  /// Returns the lateness of each period since the last call, in nanoseconds.
  ///
  /// Sockets of streams that have ended close with this call.
  package func takeLateness() -> [Int64] {
    streams.collect()
    return lateness.withLock { lateness in
      var values: [Int64] = []
      lateness.drain(into: &values)
      return values
    }
  }

  /// Ends the thread, which sends an RTCP BYE on every stream, and releases their sockets.
  ///
  /// Blocks for up to a period. Later calls do nothing.
  package func stop() {
    thread.stop { [streams] in streams.closeAll() }
  }
}
