/// A filter that SpeexDSP would not create.
package struct SpeechDSPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  package let operation: String

  /// The function that failed, in a sentence.
  package var description: String { "\(operation) failed" }
}
