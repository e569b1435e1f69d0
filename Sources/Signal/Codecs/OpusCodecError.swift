import COpus

/// A codec that libopus would not create or configure.
package struct OpusCodecError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  package let operation: String
  /// Its code, an `OPUS_` error, negative.
  package let code: CInt

  /// The function and libopus's words for the code.
  package var description: String {
    let text = unsafe opus_strerror(code)
    return "\(operation): \(unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")"
  }
}
