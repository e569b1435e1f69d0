/// A value in a D-Bus message, of the types used here (D-Bus specification, "Type system").
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
  /// `d`.
  case double(Double)
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
  /// `v`, for sending: a variant is read as the value that it holds.
  case variant(BusValue)
  /// A value of another type, when read; sent as an empty string.
  case other

  var signature: String {
    switch self {
    case .string, .other: "s"
    case .uint16: "q"
    case .uint32: "u"
    case .int32: "i"
    case .uint64: "t"
    case .int64: "x"
    case .double: "d"
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

/// A method call or a signal that was received.
package struct BusMessage: Equatable, Sendable {
  /// The path of the object.
  package let path: String
  /// The interface.
  package let interface: String
  /// The method or signal.
  package let member: String
  /// The arguments.
  package let arguments: [BusValue]
}

/// A failure of a call or of the bus.
package struct BusError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The failure, in words.
  package let reason: String
  /// True if the service may have hung: the time for an answer is over.
  package var isUnanswered = false

  /// The failure, in the same words as `reason`.
  package var description: String { reason }
}
