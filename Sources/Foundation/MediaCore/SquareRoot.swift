extension Float {
  /// The square root of a positive number, by Heron's method from an estimate that halves the
  /// exponent; accurate to seven digits.
  ///
  /// For the voice thread: the standard library's root is not marked as free of locks.
  package var root: Float {
    @_noAllocation @_noLocks get {
      var root = Float(bitPattern: bitPattern / 2 &+ 0x1FBD_1DF5)
      for _ in 0..<3 { root = (root + self / root) / 2 }
      return root
    }
  }
}
