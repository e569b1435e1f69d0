/// A reference passed to the voice thread without reference counting, so that no object is released
/// on that thread.
///
/// **Ownership:** its maker (`VoiceStreams`, `VoiceEngine`) keeps the object alive until the loop
/// has released it.
struct LentObject<Object: AnyObject>: BitwiseCopyable, Sendable {
  private let address: Int

  /// Creates a reference to an object that its maker keeps.
  init(_ object: Object) {
    // SAFETY: only turned back into a reference by `use`, while the owner keeps the object.
    address = unsafe Int(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  private init() { address = 0 }

  /// A reference to no object.
  static var none: LentObject { LentObject() }

  /// True if there is no object.
  var isNone: Bool { address == 0 }

  /// Calls `body` with the object, if there is one.
  func use(_ body: (Object) -> Void) {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return }
    // SAFETY: the address is that of an object of this type, which its owner keeps.
    let reference = unsafe Unmanaged<Object>.fromOpaque(pointer)
    unsafe reference._withUnsafeGuaranteedRef { body($0) }
  }
}
