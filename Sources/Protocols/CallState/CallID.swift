/// Identity of a call: the 128 bits of a UUID.
package struct CallID: Hashable, Sendable {
  /// The first eight bytes.
  package let high: UInt64
  /// The last eight bytes.
  package let low: UInt64

  /// Creates an identity of the given bits.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// Identity of a delivered action; never used twice.
package struct ActionID: Hashable, Sendable {
  /// A number, growing with each action.
  package let rawValue: Int

  /// Creates an identity of the given number.
  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Identity of a provider; never used twice.
package struct ProviderID: Hashable, Sendable {
  /// A number, growing with each provider.
  package let rawValue: Int

  /// Creates an identity of the given number.
  package init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Identity of a group of calls whose members all talk together; never used twice.
package struct GroupID: Hashable, Sendable {
  let rawValue: Int
}
