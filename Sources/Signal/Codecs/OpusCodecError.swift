import COpus

/// An error of libopus: a codec could not be created or configured.
package struct OpusCodecError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  package let operation: String
  /// Error code returned, an `OPUS_` error, negative.
  package let code: CInt

  /// Name of the function, and the message of libopus for the code.
  package var description: String {
    let text = unsafe opus_strerror(code)
    return "\(operation): \(unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")"
  }
}
