import COpus

/// A codec that libopus would not create or configure.
public struct OpusCodecError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  public let operation: String
  /// Its code, an `OPUS_` error, negative.
  public let code: CInt

  /// The function and libopus's words for the code.
  public var description: String {
    let text = unsafe opus_strerror(code)
    return "\(operation): \(unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)")"
  }
}
