/// An error of SpeexDSP: a filter could not be created.
package struct SpeechDSPError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The function that failed.
  package let operation: String

  /// The function that failed, in a sentence.
  package var description: String { "\(operation) failed" }
}
