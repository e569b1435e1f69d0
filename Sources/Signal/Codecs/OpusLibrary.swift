import COpus

/// The libopus that the program found when it started.
package enum OpusLibrary {
  /// Its name and release, such as `libopus 1.3.1`.
  package static let version = unsafe String(cString: opus_get_version_string())

  /// Whether its decoders conceal by a neural network if they are let compute enough, as from
  /// release 1.5 on.
  package static let concealsDeeply: Bool = {
    let numbers = version.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
    return !numbers.lexicographicallyPrecedes([1, 5])
  }()
}
