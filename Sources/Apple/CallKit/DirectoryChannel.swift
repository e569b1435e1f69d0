import CallStore
import Foundation

/// A line from a call directory extension to the call system.
///
/// Entries are sent over standard output, one a line; the verdict comes back over standard input.
enum DirectoryLine: Equatable {
  case entry(DirectoryEntry)
  case complete
  case cancel(domain: String, code: Int, text: String)

  var text: String {
    switch self {
    case .entry(.readsIncremental): "?"
    case .entry(.block(let number)): "b\(number)"
    case .entry(.unblock(let number)): "u\(number)"
    case .entry(.unblockAll): "U"
    case .entry(.identify(let number, let label)):
      "l\(number) " + Self.escaped(label)
    case .entry(.unidentify(let number)): "d\(number)"
    case .entry(.unidentifyAll): "D"
    case .complete: "."
    case .cancel(let domain, let code, let text):
      "!\(code) \(domain) " + text.replacing("\n", with: " ")
    }
  }

  /// Parses a line; nil if it is invalid.
  init?(_ line: Substring) {
    let rest = line.dropFirst()
    switch line.first {
    case "?": self = .entry(.readsIncremental)
    case "U": self = .entry(.unblockAll)
    case "D": self = .entry(.unidentifyAll)
    case ".": self = .complete
    case "b":
      guard let number = Int64(rest) else { return nil }
      self = .entry(.block(number))
    case "u":
      guard let number = Int64(rest) else { return nil }
      self = .entry(.unblock(number))
    case "d":
      guard let number = Int64(rest) else { return nil }
      self = .entry(.unidentify(number))
    case "l":
      // By scalars: a label may begin with one that would join the space before it.
      let scalars = rest.unicodeScalars
      guard let space = scalars.firstIndex(of: " "),
        let number = Int64(String(scalars[..<space]))
      else { return nil }
      let label = String(scalars[scalars.index(after: space)...])
      self = .entry(.identify(number, Self.unescaped(label[...])))
    case "!":
      let parts = rest.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, let code = Int(parts[0]) else { return nil }
      self = .cancel(domain: String(parts[1]), code: code, text: String(parts[2]))
    default:
      return nil
    }
  }

  // By scalars: a carriage return and a line feed are one character.
  private static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": result.append(contentsOf: "\\n".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }

  private static func unescaped(_ text: Substring) -> String {
    guard text.contains("\\") else { return String(text) }
    var result = ""
    var isEscaped = false
    for character in text {
      if isEscaped {
        result.append(character == "n" ? "\n" : character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else {
        result.append(character)
      }
    }
    return result
  }
}

/// The extension's end of the channel.
///
/// **Thread safety:** one thread at a time, but for `waitForTheEnd`.
// SAFETY: used by the thread that answers the request.
final class DirectoryChannel: @unchecked Sendable {
  /// Environment variable of a program started as an extension: `full` or `incremental`.
  static let environmentKey = "CALLKIT_DIRECTORY_LOAD"
  private static let bufferBytes = 65_536

  let mayBeIncremental: Bool
  private let output: FileHandle
  private var buffer = Data()

  /// Opens the channel; nil if the call system did not start this program.
  init?() {
    guard let mode = ProcessInfo.processInfo.environment[Self.environmentKey] else { return nil }
    mayBeIncremental = mode == "incremental"
    // What the app prints must not become an entry.
    output = FileHandle(fileDescriptor: dup(STDOUT_FILENO), closeOnDealloc: true)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    signal(SIGPIPE, SIG_IGN)
  }

  func send(_ entry: DirectoryEntry) {
    send(.entry(entry))
  }

  private func send(_ line: DirectoryLine) {
    buffer += Data((line.text + "\n").utf8)
    if buffer.count >= Self.bufferBytes { flush() }
  }

  // If the system has given up the load, the pipe has no reader; the verdict says why.
  private func flush() {
    try? output.write(contentsOf: buffer)
    buffer = Data()
  }

  /// Ends the load and waits for the verdict: nil if it was accepted, else the error.
  func complete() -> CXErrorCodeCallDirectoryManagerError? {
    send(.complete)
    flush()
    let verdict = readLine() ?? ""
    if verdict == "ok" { return nil }
    let code = Int(verdict).flatMap { CXErrorCodeCallDirectoryManagerError.Code(rawValue: $0) }
    return CXErrorCodeCallDirectoryManagerError(code ?? .unknown)
  }

  func cancel(_ error: NSError) {
    send(.cancel(domain: error.domain, code: error.code, text: error.localizedDescription))
    flush()
  }

  func end() -> Never {
    exit(0)
  }

  /// Runs the main queue until the process exits.
  ///
  /// The request may be answered on any queue, the main one included.
  func waitForTheEnd() -> Never {
    dispatchMain()
  }
}
