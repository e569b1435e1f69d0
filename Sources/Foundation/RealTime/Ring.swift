public import MediaCore
public import Synchronization

/// Memory that is shared by the two halves of a ring.
@safe
@usableFromInline
final class RingStorage<Element: BitwiseCopyable> {
  @usableFromInline let base: UnsafeMutablePointer<Element>
  @usableFromInline let mask: Int
  @usableFromInline let written = Atomic<Int>(0)
  @usableFromInline let read = Atomic<Int>(0)
  let hasConsumer = Atomic<Bool>(false)

  init(capacity: Int) {
    precondition(capacity > 0 && capacity <= 1 << 30, "ring capacity out of range")
    var size = 1
    while size < capacity { size *= 2 }
    unsafe base = .allocate(capacity: size)
    mask = size - 1
  }

  deinit {
    unsafe base.deallocate()
  }
}

// SAFETY: one producer writes an element before it releases `written`, one consumer reads it after
// acquiring that counter, and neither half can be copied; no element is ever touched by both.
extension RingStorage: @unchecked Sendable {}

/// The writing half of a single-producer, single-consumer queue of plain values.
///
/// Wait-free.
///
/// Rings, triple buffers and atomics are the only channels between a voice thread and the rest.
///
/// **Thread safety:** move it to one thread; it cannot be shared.
///
/// **When full:** `write` of one element returns false; the others return how many they wrote.
public struct RingProducer<Element: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
  @usableFromInline let storage: RingStorage<Element>

  /// Creates a ring for at least `capacity` elements, rounded up to a power of two.
  public init(capacity: Int) {
    storage = RingStorage(capacity: capacity)
  }

  /// Returns the reading half.
  ///
  /// Call this once: a second call traps.
  public mutating func makeConsumer() -> RingConsumer<Element> {
    let isFirst = storage.hasConsumer.compareExchange(
      expected: false,
      desired: true,
      ordering: .relaxed
    ).exchanged
    precondition(isFirst, "a ring has one consumer")
    return RingConsumer(storage: storage)
  }

  /// Appends `element`, or returns false if the ring is full.
  @inlinable
  public mutating func write(_ element: Element) -> Bool {
    let tail = storage.written.load(ordering: .relaxed)
    guard tail &- storage.read.load(ordering: .acquiring) <= storage.mask else { return false }
    unsafe storage.base[tail & storage.mask] = element
    storage.written.store(tail &+ 1, ordering: .releasing)
    return true
  }

  /// Appends the first `count` elements of `block`, or as many as fit; returns their number.
  @inlinable
  public mutating func write(_ block: borrowing FixedArray<Element>, count: Int) -> Int {
    let (tail, room) = room(for: count)
    for offset in 0..<room { unsafe storage.base[(tail &+ offset) & storage.mask] = block[offset] }
    storage.written.store(tail &+ room, ordering: .releasing)
    return room
  }

  /// Appends `element` `count` times, or as often as it fits; returns the number of copies.
  @inlinable
  public mutating func write(repeating element: Element, count: Int) -> Int {
    let (tail, room) = room(for: count)
    for offset in 0..<room { unsafe storage.base[(tail &+ offset) & storage.mask] = element }
    storage.written.store(tail &+ room, ordering: .releasing)
    return room
  }

  @inlinable
  func room(for count: Int) -> (tail: Int, room: Int) {
    let tail = storage.written.load(ordering: .relaxed)
    let used = tail &- storage.read.load(ordering: .acquiring)
    return (tail, min(max(0, count), storage.mask &+ 1 &- used))
  }
}

/// The reading half of a ring.
///
/// Wait-free.
///
/// **Thread safety:** move it to one thread; it cannot be shared.
public struct RingConsumer<Element: BitwiseCopyable & Sendable>: ~Copyable, Sendable {
  @usableFromInline let storage: RingStorage<Element>

  init(storage: RingStorage<Element>) {
    self.storage = storage
  }

  /// Number of elements that can be read now.
  @inlinable
  public var available: Int {
    storage.written.load(ordering: .acquiring) &- storage.read.load(ordering: .relaxed)
  }

  /// Removes the oldest element, or returns nil if the ring is empty.
  @inlinable
  public mutating func read() -> Element? {
    let head = storage.read.load(ordering: .relaxed)
    guard storage.written.load(ordering: .acquiring) != head else { return nil }
    let element = unsafe storage.base[head & storage.mask]
    storage.read.store(head &+ 1, ordering: .releasing)
    return element
  }

  /// Removes all elements and appends them to `array`, oldest first.
  ///
  /// Allocates: not for a voice thread.
  @inlinable
  public mutating func drain(into array: inout [Element]) {
    let head = storage.read.load(ordering: .relaxed)
    let count = available
    array.reserveCapacity(array.count + count)
    for offset in 0..<count {
      unsafe array.append(storage.base[(head &+ offset) & storage.mask])
    }
    storage.read.store(head &+ count, ordering: .releasing)
  }
}
