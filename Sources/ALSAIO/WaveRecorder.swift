import CRealTime
import Glibc
import MediaTime
import RealTime
import Synchronization

/// Writes a WAV file from the samples that the voice thread hands over.
///
/// **Thread safety:** `write` belongs to the voice thread; a thread of its own drains the ring to
/// the file each 50 ms. **Life cycle:** `deinit` ends that thread and completes the header, so it
/// runs where blocking is allowed, never on the voice thread.
struct WaveRecorder: ~Copyable {
  private var producer: RingProducer<Float>
  private let isClosing: SharedFlag
  private let thread: RealTimeThread

  /// Ten seconds at 48 kHz: far longer than a disk ever stalls.
  private static let ringCapacity = 480_000
  private static let drainNanoseconds: Int64 = 50_000_000

  final class SharedFlag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  init(path: String, rate: SampleRate) throws(AudioDeviceError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw AudioDeviceError(
        kind: .badFile,
        device: "file:\(path)",
        operation: "open",
        reason: SystemError(operation: "it cannot be written", code: errno).description
      )
    }
    var producer = RingProducer<Float>(capacity: Self.ringCapacity)
    let closing = SharedFlag()
    let drain = Drain(
      descriptor: descriptor,
      rate: rate,
      consumer: producer.makeConsumer(),
      closing: closing
    )
    let started: RealTimeThread
    do throws(SystemError) {
      started = try RealTimeThread(name: "wave-recorder", policy: .ordinary) { drain.run() }
    } catch {
      throw AudioDeviceError(
        kind: .other,
        device: "file:\(path)",
        operation: error.operation,
        reason: error.description
      )
    }
    self.producer = producer
    isClosing = closing
    thread = started
  }

  deinit {
    isClosing.isSet.store(true, ordering: .releasing)
    thread.join()
  }

  @_noAllocation @_noLocks
  mutating func write(_ sample: Float) {
    producer.write(sample)
  }

  // SAFETY: made on one thread and handed to the draining thread, which alone uses it.
  private final class Drain: @unchecked Sendable {
    private let descriptor: CInt
    private let rate: SampleRate
    private var consumer: RingConsumer<Float>
    private let closing: SharedFlag
    private var sampleCount = 0

    init(
      descriptor: CInt,
      rate: SampleRate,
      consumer: consuming RingConsumer<Float>,
      closing: SharedFlag
    ) {
      self.descriptor = descriptor
      self.rate = rate
      self.consumer = consumer
      self.closing = closing
    }

    func run() {
      put(WaveFile.header(rateHertz: rate.hertz, sampleCount: 0), at: 0)
      while !closing.isSet.load(ordering: .acquiring) {
        drain()
        _ = realtime_poll(nil, 0, WaveRecorder.drainNanoseconds)
      }
      drain()
      put(WaveFile.header(rateHertz: rate.hertz, sampleCount: sampleCount), at: 0)
      close(descriptor)
    }

    private func drain() {
      var block: [Float] = []
      while let sample = consumer.read() { block.append(sample) }
      guard !block.isEmpty else { return }
      put(WaveFile.encode(block), at: 44 + 2 * sampleCount)
      sampleCount += block.count
    }

    // A full disk cuts the recording short; the call is worth more than the file.
    private func put(_ bytes: [UInt8], at offset: Int) {
      _ = unsafe bytes.withUnsafeBytes {
        unsafe pwrite(descriptor, $0.baseAddress, $0.count, offset)
      }
    }
  }
}
