/// Mono samples from -1 to 1.
public typealias SampleBuffer = FixedArray<Float>

/// The bytes of a datagram or a payload.
public typealias ByteBuffer = FixedArray<UInt8>

/// An array whose length never changes: one allocation when it is made, none afterwards.
///
/// The cores use it where an `Array` could allocate on mutation, since the voice thread must not.
/// Its members are generic and therefore unmarked; the compiler proves them free of allocation and
/// locks where a marked function uses them with a concrete element. (Spans would be the natural
/// parameters of such functions, but Swift 6.3 refuses them under `@_noLocks`: it sees a reference
/// count where one ends. So buffers are passed whole, by borrowing or `inout`, with a count.)
///
/// **Ownership:** it cannot be copied; the memory goes with its one owner.
@safe
public struct FixedArray<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline let base: UnsafeMutablePointer<Element>

  /// The number of elements, fixed for life.
  public let count: Int

  /// An array of `count` elements, all equal to `element`.
  public init(repeating element: Element, count: Int) {
    precondition(count > 0, "a fixed array has at least one element")
    unsafe base = .allocate(capacity: count)
    unsafe base.initialize(repeating: element, count: count)
    self.count = count
  }

  /// An array of the given elements, of which there must be one at least.
  public init(_ elements: [Element]) {
    precondition(!elements.isEmpty, "a fixed array has at least one element")
    unsafe base = .allocate(capacity: elements.count)
    count = elements.count
    for (index, element) in elements.enumerated() {
      unsafe (base + index).initialize(to: element)
    }
  }

  deinit {
    unsafe base.deallocate()
  }

  /// The element at `index`, which must be in `0..<count`.
  @inlinable
  public subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count, "index out of range")
      return unsafe base[index]
    }
    set {
      precondition(index >= 0 && index < count, "index out of range")
      unsafe base[index] = newValue
    }
  }

  /// Where the first element lies, for C functions; valid while the array lives.
  @unsafe @inlinable
  public var address: UnsafeMutablePointer<Element> { unsafe base }

  /// Moves `count` elements from `source` to `destination`; the two places may overlap.
  @inlinable
  public mutating func move(from source: Int, to destination: Int, count moved: Int) {
    precondition(moved >= 0 && source >= 0 && destination >= 0, "negative range")
    precondition(source + moved <= count && destination + moved <= count, "range out of bounds")
    if destination < source {
      for offset in 0..<moved {
        unsafe base[destination + offset] = base[source + offset]
      }
    } else {
      var offset = moved
      while offset > 0 {
        offset -= 1
        unsafe base[destination + offset] = base[source + offset]
      }
    }
  }
}

// SAFETY: the memory has this one owner, which cannot be copied, and holds plain values only.
extension FixedArray: @unchecked Sendable where Element: Sendable {}
