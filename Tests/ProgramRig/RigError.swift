/// Reason for which the rig cannot run.
package struct RigError: Error, CustomStringConvertible {
  /// One line that says what to do.
  package let description: String

  /// An error with its one line.
  package init(_ description: String) {
    self.description = description
  }
}
