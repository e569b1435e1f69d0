import CLibre

/// Who calls.
extension UserAgent {
  /// The caller's URI and name, as he says himself.
  @unsafe
  static func caller(
    in message: UnsafePointer<sip_msg>
  ) -> (address: String, name: String) {
    unsafe (String(message.pointee.from.auri), String(message.pointee.from.dname))
  }

  /// The caller's URI and name as an account's server says (RFC 3325), nil if it says nothing.
  ///
  /// From others it means nothing.
  @unsafe
  static func assertedCaller(
    in message: UnsafePointer<sip_msg>
  ) -> (address: String, name: String)? {
    var address = [CChar](repeating: 0, count: 256)
    var name = [CChar](repeating: 0, count: 256)
    guard unsafe re_asserted_caller(message, &address, &name, 256) else { return nil }
    return (String(cStringBytes: address), String(cStringBytes: name))
  }
}
