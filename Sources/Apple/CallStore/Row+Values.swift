import Foundation
import GRDB

/// Values of rows, whatever another program or a later release has written.
///
/// GRDB's subscripts end the program for a value of another kind. Its errors name what the row
/// holds, and that is the user's own.
extension Row {
  /// What a column holds; throws `CallStoreError.damaged` if it is of another kind.
  func value<Value: DatabaseValueConvertible>(_ column: String) throws(CallStoreError) -> Value {
    do {
      return try decode(forColumn: column)
    } catch {
      throw .damaged
    }
  }

  /// No clock is further from 1970, in seconds: such dates could not be reckoned with.
  private static let longestTime = 1e11

  /// The date in a column of seconds since 1970; throws as `value` does.
  func date(_ column: String) throws(CallStoreError) -> Date {
    guard let date = try dateIfPresent(column) else { throw .damaged }
    return date
  }

  /// The date in a column of seconds since 1970, nil for none; throws as `value` does.
  func dateIfPresent(_ column: String) throws(CallStoreError) -> Date? {
    let seconds: Double? = try value(column)
    guard let seconds else { return nil }
    guard abs(seconds) < Self.longestTime else { throw .damaged }
    return Date(timeIntervalSince1970: seconds)
  }
}
