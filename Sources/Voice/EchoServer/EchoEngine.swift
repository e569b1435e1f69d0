package import MediaCore
package import RealTime
import Synchronization
package import VoiceEngine

/// A thread that sends back to each far side what it receives, without a sound card.
///
/// **Life cycle:** the initialiser starts the thread; `stop` ends it and releases streams and
/// sockets, and is called at the latest by `deinit`.
/// **Thread safety:** every method may be called from any thread.
package final class EchoEngine<Transport: PacketTransport & ~Copyable>: Sendable {
  private struct Control: ~Copyable {
    var lateness: RingConsumer<Int64>
    var thread: RealTimeThread?
  }

  /// Who is echoed.
  package let streams: VoiceStreams<Transport>

  private let signals: LoopSignals
  private let control: Mutex<Control>

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
    self.signals = signals
    self.streams = streams
    control = Mutex(Control(lateness: reader, thread: nil))
    let thread = try RealTimeThread(name: "echo", policy: .realTime) { loop.run() }
    control.withLock { $0.thread = thread }
  }

  deinit {
    stop()
  }

  /// How late each period began since the last call, in nanoseconds.
  ///
  /// Sockets of streams that have ended close with this call.
  package func takeLateness() -> [Int64] {
    streams.collect()
    return control.withLock { control in
      var values: [Int64] = []
      control.lateness.drain(into: &values)
      return values
    }
  }

  /// Ends the thread, which says goodbye on every stream, and releases their sockets.
  ///
  /// Blocks for up to a period. Later calls do nothing.
  package func stop() {
    let thread = control.withLock { control in
      let thread = control.thread
      control.thread = nil
      return thread
    }
    guard let thread else { return }
    signals.isStopping.store(true, ordering: .releasing)
    signals.wakeUp.signal()
    thread.join()
    streams.closeAll()
  }
}
