/// Names a call: the 128 bits of a UUID.
public struct CallID: Hashable, Sendable {
  /// The first eight bytes.
  public let high: UInt64
  /// The last eight bytes.
  public let low: UInt64

  /// A name of the given bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
}

/// Names a delivered action; never used twice.
public struct ActionID: Hashable, Sendable {
  /// A number, growing with each action.
  public let rawValue: Int

  /// A name of the given number.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Names a provider; never used twice.
public struct ProviderID: Hashable, Sendable {
  /// A number, growing with each provider.
  public let rawValue: Int

  /// A name of the given number.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Names a group of calls that are talked to together; never used twice.
public struct GroupID: Hashable, Sendable {
  let rawValue: Int
}
