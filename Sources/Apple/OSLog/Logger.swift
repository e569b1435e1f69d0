import Logging

/// Severity of a log line.
///
/// Apple: `OSLogType`, with the same numbers.
public struct OSLogType: RawRepresentable, Hashable, Sendable {
  /// Apple's number of the severity.
  public let rawValue: UInt8

  /// Creates a severity from Apple's number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Information that helps to find a fault.
  public static let `default` = OSLogType(rawValue: 0)
  /// Information that may help to find a fault.
  public static let info = OSLogType(rawValue: 1)
  /// Information for use while programming.
  public static let debug = OSLogType(rawValue: 2)
  /// A failed operation.
  public static let error = OSLogType(rawValue: 16)
  /// A fault of the program itself.
  public static let fault = OSLogType(rawValue: 17)

  fileprivate var level: Logging.Logger.Level {
    switch self {
    case .debug: .debug
    case .info: .info
    case .error: .error
    case .fault: .critical
    default: .notice
    }
  }
}

/// Writes lines to the program's swift-log backend.
///
/// Apple: `os.Logger`, whose calls compile unchanged behind `import OSLog`. Differs from Apple's:
/// `LoggingSystem.bootstrap` decides the destination and the lowest level of lines, by default
/// standard error and `info`; the subsystem is the label, and the category is a metadata value.
/// **Thread safety:** any thread but the voice thread.
public struct Logger: Sendable {
  private let backend: Logging.Logger

  /// A logger for a part of a subsystem; its name is in reverse-domain notation.
  public init(subsystem: String, category: String) {
    self.init(Logging.Logger(label: subsystem), category: category)
  }

  /// A logger of the program as a whole.
  public init() {
    self.init(Logging.Logger(label: CommandLine.arguments.first ?? ""), category: nil)
  }

  init(_ backend: Logging.Logger, category: String?) {
    var backend = backend
    if let category { backend[metadataKey: "category"] = "\(category)" }
    self.backend = backend
  }

  private func write(_ level: Logging.Logger.Level, _ message: OSLogMessage) {
    // The text is made only if the level is wanted.
    backend.log(level: level, "\(message.text)")
  }

  /// Writes a line of the default type.
  public func log(_ message: OSLogMessage) { write(.notice, message) }
  /// Writes a line of the given type.
  public func log(level: OSLogType, _ message: OSLogMessage) { write(level.level, message) }
  /// Writes a message for debugging, at the level `trace`.
  public func trace(_ message: OSLogMessage) { write(.trace, message) }
  /// Writes a message for debugging, at the level `debug`.
  public func debug(_ message: OSLogMessage) { write(.debug, message) }
  /// Writes information that may help to find a fault.
  public func info(_ message: OSLogMessage) { write(.info, message) }
  /// Writes information that helps to find a fault.
  public func notice(_ message: OSLogMessage) { write(.notice, message) }
  /// Writes that an operation may fail.
  public func warning(_ message: OSLogMessage) { write(.warning, message) }
  /// Writes that an operation failed.
  public func error(_ message: OSLogMessage) { write(.error, message) }
  /// Writes that the program itself is at fault.
  public func critical(_ message: OSLogMessage) { write(.critical, message) }
  /// Writes that the program itself is at fault.
  public func fault(_ message: OSLogMessage) { write(.critical, message) }
}
