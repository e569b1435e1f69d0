public import CLinux
public import MediaCore

/// Result of a read from a device, or of a write to it.
@frozen
public struct DeviceTransfer: Equatable, Sendable, BitwiseCopyable {
  /// Number of frames read or written.
  public var frames: FrameCount

  /// Frames of device time lost to a fault before these; 0 without a fault.
  ///
  /// A capture fault is a gap of known length: the media timeline advances by it.
  public var lost: FrameCount

  /// True once the device is gone and will neither deliver nor accept frames.
  public var isGone: Bool

  /// Creates a transfer of `frames` after a gap of `lost`.
  @inlinable
  public init(frames: FrameCount, lost: FrameCount = 0, isGone: Bool = false) {
    self.frames = frames
    self.lost = lost
    self.isGone = isGone
  }
}

/// The sides of a device, which come and go independently of each other.
public struct StreamDirections: OptionSet, Hashable, Sendable, BitwiseCopyable {
  /// A bit for each side.
  public let rawValue: UInt8

  /// Creates a set of sides from their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The microphone.
  public static var capture: StreamDirections { StreamDirections(rawValue: 1) }
  /// The loudspeaker.
  public static var playback: StreamDirections { StreamDirections(rawValue: 2) }
  /// Both.
  public static var both: StreamDirections { StreamDirections(rawValue: 3) }
}

/// A microphone and a loudspeaker for the voice thread: mono, 32-bit float, -1 to 1.
///
/// **Life cycle:** opened by its initialiser, started once, closed by its `deinit`.
/// **Thread safety:** opened on one thread, then used by the voice thread only.
/// Real ones are in `ALSAAudio`; a simulation scripts its own.
public protocol AudioDevice: ~Copyable, SendableMetatype {
  /// Sample rate of `read`.
  var captureRate: SampleRate { get }
  /// Sample rate of `write` and `queuedFrames`.
  var playbackRate: SampleRate { get }
  /// Number of frames that the microphone delivers at a time.
  var capturePeriod: FrameCount { get }
  /// Number of frames that the loudspeaker takes at a time.
  var playbackPeriod: FrameCount { get }

  /// True if both sides belong to one device that may process whole periods at once.
  ///
  /// Then the arrival of a capture period marks the beginning of a playback cycle.
  var isOneDevice: Bool { get }

  /// Starts both directions with `fill` frames of silence queued for playback.
  mutating func start(fill: FrameCount) throws(AudioDeviceError)

  /// Writes the descriptors to wait for from `descriptors[first]` on; returns their number, 8 at
  /// most.
  mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int

  /// Evaluates the results of `poll` in the descriptors that `pollDescriptors` wrote.
  @_noAllocation @_noLocks
  mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int)

  /// Reads the available frames of the microphone into `block`, without waiting.
  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer

  /// Queues the first `count` frames of `block` for the loudspeaker.
  @_noAllocation @_noLocks
  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer

  /// Maximum number of frames that can be queued for the loudspeaker.
  var playbackCapacity: FrameCount { get }

  /// Returns the number of frames written but not yet taken by the device: the controllable fill.
  @_noAllocation @_noLocks
  mutating func queuedFrames() -> FrameCount

  /// Returns the playback delay of the next frame written, in frames: the ring buffer and all that
  /// follows it (`snd_pcm_delay`).
  @_noAllocation @_noLocks
  mutating func playbackDelayFrames() -> FrameCount

  /// Returns the capture delay in frames, from the microphone to the last frame read
  /// (`snd_pcm_delay`).
  @_noAllocation @_noLocks
  mutating func pendingFrames() -> FrameCount

  /// Exchanges these sides, with everything that belongs to them, with those of `other`.
  mutating func exchange(_ sides: StreamDirections, with other: inout Self)
}

/// An error of a device that could not be used.
public struct AudioDeviceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Kind of an error, by its remedy.
  public enum Kind: Equatable, Sendable {
    /// There is no such device: choose another.
    case notFound
    /// Another program holds it: retry or choose a shared one.
    case busy
    /// The device is gone: reopen it when it returns.
    case lost
    /// The device does not answer: restart its sound server or choose another.
    case unresponsive
    /// The device offers no supported format or rate.
    case unsupportedFormat
    /// The file given as a virtual device cannot be used.
    case badFile
    /// Anything else.
    case other
  }

  /// Kind of the error, by its remedy.
  public let kind: Kind
  /// Name by which the device was opened.
  public let device: String
  /// Call or step that failed.
  public let operation: String
  /// Reason in words.
  public let reason: String

  /// Creates an error of `operation` on `device`.
  public init(kind: Kind, device: String, operation: String, reason: String) {
    self.kind = kind
    self.device = device
    self.operation = operation
    self.reason = reason
  }

  /// One line that names the device, the reason and the operation.
  public var description: String {
    "cannot use sound device \"\(device)\": \(reason) (\(operation))"
  }
}
