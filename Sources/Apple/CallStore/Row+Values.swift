import Foundation
import GRDB

/// Checked access to the values of rows, which another program or a later release may have written.
///
/// GRDB's subscripts end the program for a value of another type. Its errors contain the row's
/// values, which are private to the user.
extension Row {
  /// Returns the value of a column; throws `CallStoreError.damaged` if it has another type.
  func value<Value: DatabaseValueConvertible>(_ column: String) throws(CallStoreError) -> Value {
    do {
      return try decode(forColumn: column)
    } catch {
      throw .damaged
    }
  }

  /// Limit of dates before and after 1970, in seconds; dates beyond it are unfit for computation.
  private static let longestTime = 1e11

  /// Returns the date in a column of seconds since 1970; throws as `value` does.
  func date(_ column: String) throws(CallStoreError) -> Date {
    guard let date = try dateIfPresent(column) else { throw .damaged }
    return date
  }

  /// Returns the date in a column of seconds since 1970, nil for none; throws as `value` does.
  func dateIfPresent(_ column: String) throws(CallStoreError) -> Date? {
    let seconds: Double? = try value(column)
    guard let seconds else { return nil }
    guard abs(seconds) < Self.longestTime else { throw .damaged }
    return Date(timeIntervalSince1970: seconds)
  }
}
