import CLibre

/// A place for the pointer to a libre object that ends by itself, like a request.
///
/// libre keeps the address of the place while the object lives, and sets the pointer to nil when it
/// ends.
///
/// **Thread safety:** the event loop's thread only. **Ownership:** the object is released by
/// `clear`, at the latest by `deinit`.
@safe
final class LibreSlot {
  let place: UnsafeMutablePointer<OpaquePointer?>

  init() {
    unsafe place = .allocate(capacity: 1)
    unsafe place.initialize(to: nil)
  }

  deinit {
    clear()
    unsafe place.deallocate()
  }

  var isEmpty: Bool { unsafe place.pointee == nil }

  /// Releases the object, which ends it.
  func clear() {
    let held = unsafe place.pointee
    unsafe place.pointee = nil
    _ = unsafe mem_deref(UnsafeMutableRawPointer(held))
  }
}
