/// Mono samples from -1 to 1.
public typealias SampleBuffer = FixedArray<Float>

/// The bytes of a datagram or a payload.
public typealias ByteBuffer = FixedArray<UInt8>

/// An array of constant length: one allocation at its creation, none afterwards.
///
/// The cores use it where an `Array` could allocate on mutation, since the voice thread must not.
/// Its members are generic and therefore unmarked; the compiler proves them free of allocation and
/// locks where a marked function uses them with a concrete element. (Spans would be the natural
/// parameters of such functions, but Swift 6.3 refuses them under `@_noLocks`: it sees a reference
/// count where one ends. So buffers are passed whole, by borrowing or `inout`, with a count.)
///
/// **Ownership:** it cannot be copied, and frees the memory at the end of its life.
@safe
public struct FixedArray<Element: BitwiseCopyable>: ~Copyable {
  @usableFromInline let base: UnsafeMutablePointer<Element>

  /// Number of elements, which never changes.
  public let count: Int

  /// Creates an array of `count` elements, all equal to `element`.
  public init(repeating element: Element, count: Int) {
    precondition(count > 0, "a fixed array has at least one element")
    unsafe base = .allocate(capacity: count)
    unsafe base.initialize(repeating: element, count: count)
    self.count = count
  }

  /// Creates an array of the given elements, of which there must be one at least.
  public init(_ elements: [Element]) {
    precondition(!elements.isEmpty, "a fixed array has at least one element")
    unsafe base = .allocate(capacity: elements.count)
    count = elements.count
    unsafe elements.withUnsafeBufferPointer { elements in
      guard let first = elements.baseAddress else { return }
      unsafe base.initialize(from: first, count: elements.count)
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

  /// Address of the first element, for C functions; valid while the array lives.
  @unsafe @inlinable
  public var address: UnsafeMutablePointer<Element> { unsafe base }

  /// Sets `count` elements from `first` on to `element`.
  @inlinable
  public mutating func fill(_ element: Element, from first: Int = 0, count filled: Int) {
    precondition(filled >= 0 && first >= 0 && first + filled <= count, "range out of bounds")
    let target = unsafe base + first
    for offset in 0..<filled { unsafe target[offset] = element }
  }

  /// Copies `count` elements of `other` from `source` on to `destination`.
  @inlinable
  public mutating func copy(
    from other: borrowing FixedArray,
    at source: Int = 0,
    to destination: Int = 0,
    count copied: Int
  ) {
    precondition(copied >= 0 && source >= 0 && destination >= 0, "negative range")
    precondition(source + copied <= other.count, "range out of bounds")
    precondition(destination + copied <= count, "range out of bounds")
    let from = unsafe other.base + source
    let to = unsafe base + destination
    for offset in 0..<copied { unsafe to[offset] = from[offset] }
  }

  /// Moves `count` elements from `source` to `destination`; the two ranges may overlap.
  @inlinable
  public mutating func move(from source: Int, to destination: Int, count moved: Int) {
    precondition(moved >= 0 && source >= 0 && destination >= 0, "negative range")
    precondition(source + moved <= count && destination + moved <= count, "range out of bounds")
    guard source != destination else { return }
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

extension FixedArray where Element == Float {
  /// Adds the first `count` samples of `other`.
  @inlinable
  public mutating func add(_ other: borrowing FixedArray, count added: Int) {
    precondition(added >= 0 && added <= count && added <= other.count, "range out of bounds")
    for offset in 0..<added { unsafe base[offset] += other.base[offset] }
  }

  /// Returns the highest absolute value of the first `count` samples.
  @inlinable
  public func peak(count counted: Int) -> Float {
    precondition(counted >= 0 && counted <= count, "range out of bounds")
    // Eight at a time: a comparison of single floats is one after the other.
    var lanes = SIMD8<Float>(repeating: 0)
    var offset = 0
    while offset + 8 <= counted {
      let address = unsafe UnsafeRawPointer(base + offset)
      let samples = unsafe address.loadUnaligned(as: SIMD8<Float>.self)
      let levels = samples.replacing(with: -samples, where: samples .< 0)
      lanes.replace(with: levels, where: levels .> lanes)
      offset += 8
    }
    var highest: Float = 0
    for lane in 0..<8 where lanes[lane] > highest { highest = lanes[lane] }
    for offset in offset..<counted {
      let level = unsafe abs(base[offset])
      highest = level > highest ? level : highest
    }
    return highest
  }
}

// SAFETY: the memory has this one owner, which cannot be copied, and holds plain values only.
extension FixedArray: @unchecked Sendable where Element: Sendable {}
