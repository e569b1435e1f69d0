import CLinux
import Glibc
import MediaCore
import RealTime
import Synchronization

/// Writes a WAV file from the samples that the voice thread hands over.
///
/// A program that records to a file again, as when a call is resumed, appends to it.
///
/// **Thread safety:** `write` belongs to the voice thread; a thread of its own drains the ring to
/// the file each 50 ms. **Life cycle:** `deinit` ends that thread and completes the header, so it
/// runs where blocking is allowed, never on the voice thread.
struct WaveRecorder: ~Copyable {
  private var producer: RingProducer<Float>
  private let isClosing: SharedFlag
  private let thread: RealTimeThread

  /// Samples in the ring: ten seconds at 48 kHz, far longer than a disk ever stalls.
  private static let ringCapacity = 480_000
  private static let drainNanoseconds: Int64 = 50_000_000

  final class SharedFlag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  /// Samples that this program has recorded to each file that it has closed, and their rate, by
  /// path.
  private static let recorded = Mutex<[String: (count: Int, rate: SampleRate)]>([:])

  init(path: String, rate: SampleRate) throws(AudioDeviceError) {
    let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else {
      throw AudioDeviceError(
        kind: .badFile,
        device: "file:\(path)",
        operation: "open",
        reason: SystemError(operation: "it cannot be written", code: errno).description
      )
    }
    let former = Self.recorded.withLock { $0[path] }
    var before = former?.rate == rate ? former?.count ?? 0 : 0
    // Unless it was removed meanwhile.
    if before == 0 || lseek(descriptor, 0, SEEK_END) < 44 + 2 * before {
      before = 0
      _ = ftruncate(descriptor, 0)
    }
    var producer = RingProducer<Float>(capacity: Self.ringCapacity)
    let closing = SharedFlag()
    let drain = Drain(
      descriptor: descriptor,
      rate: rate,
      consumer: producer.makeConsumer(),
      closing: closing,
      after: before
    ) { count in
      Self.recorded.withLock { $0[path] = (count, rate) }
    }
    let started: RealTimeThread
    do throws(SystemError) {
      started = try RealTimeThread(name: "wave-recorder", policy: .ordinary) { drain.run() }
    } catch {
      close(descriptor)
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

  /// Records the first `count` samples of `block`.
  ///
  /// Samples are dropped while the ring is full, after the disk has stalled for 10 s: a call must
  /// not wait for a disk.
  @_noAllocation @_noLocks
  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) {
    _ = producer.write(block, count: count)
  }

  /// Records `count` frames of silence, or as many as the ring has room for.
  @_noAllocation @_noLocks
  mutating func writeSilence(_ count: FrameCount) {
    _ = producer.write(repeating: 0, count: count)
  }

  // SAFETY: made on one thread and handed to the draining thread, which alone uses it.
  private final class Drain: @unchecked Sendable {
    private let descriptor: CInt
    private let rate: SampleRate
    private var consumer: RingConsumer<Float>
    private let closing: SharedFlag
    private var sampleCount: Int
    /// True once the disk has taken no more.
    private var isCutShort = false
    private let onEnd: (_ sampleCount: Int) -> Void

    init(
      descriptor: CInt,
      rate: SampleRate,
      consumer: consuming RingConsumer<Float>,
      closing: SharedFlag,
      after sampleCount: Int,
      onEnd: @escaping (_ sampleCount: Int) -> Void
    ) {
      self.descriptor = descriptor
      self.rate = rate
      self.consumer = consumer
      self.closing = closing
      self.sampleCount = sampleCount
      self.onEnd = onEnd
    }

    func run() {
      writeHeader()
      while !closing.isSet.load(ordering: .acquiring) {
        drain()
        _ = realtime_poll(nil, 0, WaveRecorder.drainNanoseconds)
      }
      drain()
      writeHeader()
      close(descriptor)
      onEnd(sampleCount)
    }

    private func writeHeader() {
      put(WaveFile.header(rateHertz: rate.hertz, sampleCount: sampleCount), at: 0)
    }

    private func drain() {
      var block: [Float] = []
      consumer.drain(into: &block)
      guard !block.isEmpty, !isCutShort else { return }
      let written = put(WaveFile.encode(block), at: 44 + 2 * sampleCount)
      sampleCount += written / 2
      guard written < 2 * block.count else { return }
      // The header says what is there: the call is worth more than the file.
      isCutShort = true
    }

    // Number of bytes that were written; a full disk takes fewer.
    @discardableResult
    private func put(_ bytes: [UInt8], at offset: Int) -> Int {
      var count = 0
      while count < bytes.count {
        let written = unsafe bytes.withUnsafeBytes {
          unsafe pwrite(
            descriptor,
            $0.baseAddress?.advanced(by: count),
            $0.count - count,
            offset + count
          )
        }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return count }
        count += written
      }
      return count
    }
  }
}
