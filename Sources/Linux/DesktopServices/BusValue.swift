/// A value in a message of the desktop's bus, of the types that its services for calls use (D-Bus
/// specification, "Type system").
package indirect enum BusValue: Equatable, Sendable {
  /// `s`, and read from `o` and `g`.
  case string(String)
  /// `q`.
  case uint16(UInt16)
  /// `u`.
  case uint32(UInt32)
  /// `i`.
  case int32(Int32)
  /// `t`.
  case uint64(UInt64)
  /// `x`.
  case int64(Int64)
  /// `b`.
  case bool(Bool)
  /// `y`.
  case byte(UInt8)
  /// `as`.
  case strings([String])
  /// `a{sv}`.
  case dictionary([String: BusValue])
  /// `aa{sv}`.
  case dictionaries([[String: BusValue]])
  /// `o`, for sending: read as `string`.
  case path(String)
  /// `ao`, for sending: read as `strings`.
  case paths([String])
  /// `ay`.
  case bytes([UInt8])
  /// `aay`.
  case byteStrings([[UInt8]])
  /// `a{ss}`, for sending: read as `dictionary`.
  case texts([String: String])
  /// A structure of such values.
  case structure([BusValue])
  /// `v`, for sending: what comes in one is read as what it holds.
  case variant(BusValue)
  /// Something else.
  case other

  var signature: String {
    switch self {
    case .string, .other: "s"
    case .uint16: "q"
    case .uint32: "u"
    case .int32: "i"
    case .uint64: "t"
    case .int64: "x"
    case .bool: "b"
    case .byte: "y"
    case .strings: "as"
    case .dictionary: "a{sv}"
    case .dictionaries: "aa{sv}"
    case .path: "o"
    case .paths: "ao"
    case .bytes: "ay"
    case .byteStrings: "aay"
    case .texts: "a{ss}"
    case .structure(let fields): "(\(fields.map(\.signature).joined()))"
    case .variant: "v"
    }
  }
}

/// A call of a method, or a signal, that has come.
package struct BusMessage: Equatable, Sendable {
  /// The object.
  package let path: String
  /// The interface.
  package let interface: String
  /// The method or signal.
  package let member: String
  /// What came with it.
  package let arguments: [BusValue]
}

/// What the bus could not do.
package struct BusError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What failed, in words.
  package let reason: String
  /// True if the service may have hung: the time for an answer is over.
  package var isUnanswered = false

  /// What failed, in words.
  package var description: String { reason }
}
