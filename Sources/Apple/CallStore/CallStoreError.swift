import Foundation
import GRDB

/// An error of the user's store, described by a sentence that says what to do.
package struct CallStoreError: LocalizedError, Equatable, CustomStringConvertible {
  package let description: String
  /// The sentence.
  package var errorDescription: String? { description }

  /// Error of a row with a value that this program does not write.
  static let damaged = CallStoreError(description: "calls.sqlite is damaged; move it away")

  /// Creates the error of a folder that cannot be used because of another error.
  init(_ folder: URL, _ error: any Error) {
    let reason = Self.reason(of: error)
    // A path may have thousands of letters.
    let path = folder.path.count > 200 ? "…" + folder.path.suffix(200) : folder.path
    description =
      "cannot use the folder \(path): \(reason); set XDG_DATA_HOME to a folder of yours"
  }

  private init(description: String) { self.description = description }

  /// Returns the reason of an error of the store in words, without the store's contents.
  package static func reason(of error: any Error) -> String {
    switch error {
    case let error as DatabaseError:
      switch error.resultCode {
      case .SQLITE_FULL, .SQLITE_IOERR: "the disk is full or cannot be written to"
      case .SQLITE_CANTOPEN: "calls.sqlite cannot be opened or made there"
      case .SQLITE_READONLY: "it cannot be written to"
      case .SQLITE_NOTADB, .SQLITE_CORRUPT: "calls.sqlite in it is damaged; move it away"
      case .SQLITE_BUSY, .SQLITE_LOCKED: "another program holds calls.sqlite in it"
      default: error.message ?? "SQLite reports \(error.resultCode)"
      }
    case let error as CallStoreError: error.description
    default:
      systemReason(of: error as NSError)
    }
  }

  private static func systemReason(of error: NSError) -> String {
    if let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error {
      return systemReason(of: underlying as NSError)
    }
    guard error.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
    return unsafe String(cString: strerror(Int32(clamping: error.code)))
  }
}
