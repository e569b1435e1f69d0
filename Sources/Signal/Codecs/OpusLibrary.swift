import COpus

/// The libopus that was loaded when the program started.
package enum OpusLibrary {
  /// Its name and release, such as `libopus 1.3.1`.
  package static let version = unsafe String(cString: opus_get_version_string())

  /// True from release 1.5 on, whose decoders conceal losses by a neural network if their
  /// complexity is high enough.
  package static let concealsDeeply: Bool = {
    let numbers = version.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return !numbers.lexicographicallyPrecedes([1, 5])
  }()
}
