/// A filter that SpeexDSP would not create.
public struct SpeechDSPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  public let operation: String

  /// The function that failed, in a sentence.
  public var description: String { "\(operation) failed" }
}
