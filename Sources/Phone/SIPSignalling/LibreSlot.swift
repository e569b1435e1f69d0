import CLibre

/// A place for something of libre's that ends by itself, like a request: libre writes to the place
/// for as long as that lives, and empties it at the end.
///
/// **Thread safety:** the event loop's thread only. **Ownership:** what is in it is released by
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

  /// Ends what is in it.
  func clear() {
    let held = unsafe place.pointee
    unsafe place.pointee = nil
    _ = unsafe mem_deref(UnsafeMutableRawPointer(held))
  }
}
