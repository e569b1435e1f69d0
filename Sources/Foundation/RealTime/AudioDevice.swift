public import CLinux
public import MediaCore

/// What a device did when the voice thread read from or wrote to it.
@frozen
public struct DeviceTransfer: Equatable, Sendable, BitwiseCopyable {
  /// Frames moved.
  public var frames: FrameCount

  /// Frames of the device's own time that a fault swallowed before these, 0 without a fault.
  ///
  /// A capture fault is a gap of known length: the media timeline advances by it.
  public var lost: FrameCount

  /// True when the device is gone and nothing more will come from it.
  public var isGone: Bool

  /// A transfer of `frames` after a gap of `lost`.
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

  /// Sides by their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The microphone.
  public static var capture: StreamDirections { StreamDirections(rawValue: 1) }
  /// The loudspeaker.
  public static var playback: StreamDirections { StreamDirections(rawValue: 2) }
  /// Both.
  public static var both: StreamDirections { StreamDirections(rawValue: 3) }
}

/// A microphone and a loudspeaker as the voice thread sees them: mono, 32-bit float, -1 to 1.
///
/// **Life cycle:** opened by its initialiser, started once, closed by its `deinit`.
/// **Thread safety:** opened on one thread, then used by the voice thread only.
/// Real ones are in `ALSAAudio`; a simulation scripts its own.
public protocol AudioDevice: ~Copyable, SendableMetatype {
  /// The rate of `read`.
  var captureRate: SampleRate { get }
  /// The rate of `write` and `queuedFrames`.
  var playbackRate: SampleRate { get }
  /// How many frames the microphone delivers at a time.
  var capturePeriod: FrameCount { get }
  /// How many frames the loudspeaker takes at a time.
  var playbackPeriod: FrameCount { get }

  /// Whether the sides are of one device that may take whole periods at once, so that a period of
  /// the microphone's tells of the beginning of a cycle of the loudspeaker's.
  var isOneDevice: Bool { get }

  /// Starts both directions with `fill` frames of silence queued for playback.
  mutating func start(fill: FrameCount) throws(AudioDeviceError)

  /// Writes the descriptors to wait for from `descriptors[first]` on and returns how many (8 at
  /// most).
  mutating func pollDescriptors(
    _ descriptors: inout FixedArray<pollfd>,
    from first: Int
  ) -> Int

  /// Translates what poll returned in the descriptors that `pollDescriptors` wrote.
  @_noAllocation @_noLocks
  mutating func acknowledge(_ descriptors: inout FixedArray<pollfd>, from first: Int)

  /// Reads what the microphone has, without waiting, into `block`.
  @_noAllocation @_noLocks
  mutating func read(into block: inout SampleBuffer) -> DeviceTransfer

  /// Queues the first `count` frames of `block` for the loudspeaker.
  @_noAllocation @_noLocks
  mutating func write(_ block: borrowing SampleBuffer, count: FrameCount) -> DeviceTransfer

  /// The most frames that the loudspeaker can have queued.
  var playbackCapacity: FrameCount { get }

  /// Frames written and not yet taken by the device: the fill that the program controls.
  @_noAllocation @_noLocks
  mutating func queuedFrames() -> FrameCount

  /// Frames between the next sample written and the loudspeaker, what lies beyond the ring
  /// included.
  @_noAllocation @_noLocks
  mutating func playbackDelayFrames() -> FrameCount

  /// Frames between the microphone and the last sample read.
  @_noAllocation @_noLocks
  mutating func pendingFrames() -> FrameCount

  /// Exchanges these sides with those of `other`, all that belongs to them included.
  mutating func exchange(_ sides: StreamDirections, with other: inout Self)
}

/// A device that could not be used.
public struct AudioDeviceError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What the caller can do about it.
  public enum Kind: Equatable, Sendable {
    /// There is no such device: choose another.
    case notFound
    /// Another program holds it: retry or choose a shared one.
    case busy
    /// It is gone: reopen when it returns.
    case lost
    /// It does not answer: restart its sound server or choose another.
    case unresponsive
    /// It offers no format or rate that is understood.
    case unsupportedFormat
    /// The file given as a virtual device cannot be used.
    case badFile
    /// Anything else.
    case other
  }

  /// What the caller can do about it.
  public let kind: Kind
  /// The name that was opened.
  public let device: String
  /// The call or the step that failed.
  public let operation: String
  /// The reason in words.
  public let reason: String

  /// An error of `operation` on `device`.
  public init(kind: Kind, device: String, operation: String, reason: String) {
    self.kind = kind
    self.device = device
    self.operation = operation
    self.reason = reason
  }

  /// One line that names the device and says why.
  public var description: String {
    "cannot use sound device \"\(device)\": \(reason) (\(operation))"
  }
}
