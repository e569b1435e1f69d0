/// Names a call: the 128 bits of a UUID.
package struct CallID: Hashable, Sendable {
  /// The first eight bytes.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  /// A name of the given bits.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// Names a delivered action; never used twice.
package struct ActionID: Hashable, Sendable {
  /// A number, growing with each action.
  package let rawValue: Int

  /// A name of the given number.
  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Names a provider; never used twice.
package struct ProviderID: Hashable, Sendable {
  /// A number, growing with each provider.
  package let rawValue: Int

  /// A name of the given number.
  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Names a group of calls that are talked to together; never used twice.
package struct GroupID: Hashable, Sendable {
  let rawValue: Int
}
