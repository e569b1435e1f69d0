public import Synchronization

/// Memory of a triple buffer: a slot for the writer, one for the reader, and one between them.
@safe
@usableFromInline
final class TripleBufferStorage<Element: BitwiseCopyable> {
  @usableFromInline let places: UnsafeMutablePointer<Element>
  /// Index of the slot between the halves, 0 to 2, with the bit `unread` if its value was not read.
  @usableFromInline let between = Atomic<Int>(1)
  let hasReader = Atomic<Bool>(false)

  /// Mask of the bits of `between` that hold the index of the slot.
  @usableFromInline static var place: Int { 3 }
  @usableFromInline static var unread: Int { 4 }

  init() {
    unsafe places = .allocate(capacity: 3)
  }

  deinit {
    unsafe places.deallocate()
  }
}

// SAFETY: each half owns a place that the other does not touch, and gives it away only by
// exchanging it for the one between them, in one atomic step that releases what was written and
// acquires what will be read.
extension TripleBufferStorage: @unchecked Sendable {}

/// The writing half of a triple buffer, for values of which only the newest matters, such as
/// statistics.
///
/// Wait-free, and never full: an unread value is replaced by the next one.
///
/// **Thread safety:** move it to one thread; it cannot be shared.
public struct TripleBufferWriter<Element: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
  @usableFromInline let storage = TripleBufferStorage<Element>()
  @usableFromInline var place = 0

  /// Creates a buffer that holds no value yet.
  public init() {}

  /// Returns the reading half.
  ///
  /// Call this once: a second call traps.
  public mutating func makeReader() -> TripleBufferReader<Element> {
    let isFirst = storage.hasReader.compareExchange(
      expected: false,
      desired: true,
      ordering: .relaxed
    ).exchanged
    precondition(isFirst, "a latest value has one reader")
    return TripleBufferReader(storage: storage)
  }

  /// False while the newest value waits to be read.
  @inlinable
  public var isRead: Bool {
    storage.between.load(ordering: .relaxed) & TripleBufferStorage<Element>.unread == 0
  }

  /// Replaces the newest value by `element`.
  @inlinable
  public mutating func write(_ element: Element) {
    unsafe storage.places[place] = element
    let former = storage.between.exchange(
      place | TripleBufferStorage<Element>.unread,
      ordering: .acquiringAndReleasing
    )
    place = former & TripleBufferStorage<Element>.place
  }
}

/// The reading half of a triple buffer.
///
/// Wait-free.
///
/// **Thread safety:** move it to one thread; it cannot be shared.
public struct TripleBufferReader<Element: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
  @usableFromInline let storage: TripleBufferStorage<Element>
  @usableFromInline var place = 2

  init(storage: TripleBufferStorage<Element>) {
    self.storage = storage
  }

  /// Returns the newest value; nil if it has been read already, or none was written.
  @inlinable
  public mutating func read() -> Element? {
    guard storage.between.load(ordering: .relaxed) & TripleBufferStorage<Element>.unread != 0 else {
      return nil
    }
    let former = storage.between.exchange(place, ordering: .acquiringAndReleasing)
    place = former & TripleBufferStorage<Element>.place
    return unsafe storage.places[place]
  }
}
