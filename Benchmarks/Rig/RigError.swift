/// Why the rig cannot run.
public struct RigError: Error, CustomStringConvertible {
  /// One line that says what to do.
  public let description: String

  /// An error with its one line.
  public init(_ description: String) {
    self.description = description
  }
}
