import Logging
import Synchronization
import Testing

@testable import OSLog

/// Keeps what is logged.
private final class Lines: Sendable {
  let lines = Mutex<[String]>([])
}

private struct LineHandler: LogHandler {
  let kept: Lines
  var metadata = Logging.Logger.Metadata()
  var logLevel = Logging.Logger.Level.debug

  subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let category = metadata["category"].map { "\($0)" } ?? "-"
    kept.lines.withLock { $0.append("\(event.level) \(category): \(event.message)") }
  }
}

struct LoggerTests {
  private let kept = Lines()
  private let logger: OSLog.Logger

  init() {
    let kept = kept
    let backend = Logging.Logger(label: "org.example") { _ in LineHandler(kept: kept) }
    logger = OSLog.Logger(backend, category: "calls")
  }

  private var lines: [String] { kept.lines.withLock { $0 } }

  @Test func namesAndAddressesAreNotWrittenUnlessTheyArePublic() {
    let name = "sip:alice@example.org"
    logger.notice("call \(7) from \(name), \(name, privacy: .public), \(true)")
    let error = CancellationError()
    logger.error("\(3, privacy: .private) \(1.5, format: .fixed(precision: 1)) \(error)")
    #expect(
      lines == [
        "notice calls: call 7 from <private>, sip:alice@example.org, true",
        "error calls: <private> 1.5 <private>",
      ]
    )
  }

  @Test func maskedValuesCanBeComparedAndNotRead() throws {
    let name = "alice"
    logger.info("\(name, privacy: .private(mask: .hash)) \(name, privacy: .auto(mask: .hash))")
    let masks = try #require(lines.first).split(separator: "<mask.hash: ")
    #expect(masks.count == 3)
    #expect(masks[1].prefix(8) == masks[2].prefix(8))
    #expect(!lines[0].contains("alice"))
  }

  @Test func typesAreLevels() {
    for type: OSLogType in [.default, .info, .debug, .error, .fault] {
      logger.log(level: type, "x")
    }
    logger.trace("below what is wanted")
    logger.log("y")
    logger.warning("y")
    logger.critical("y")
    let levels = lines.map { $0.prefix { $0 != " " } }
    #expect(
      levels == [
        "notice", "info", "debug", "error", "critical", "notice", "warning", "critical",
      ]
    )
  }

  @Test func valuesOfLinesThatAreNotWrittenAreNotLookedAt() {
    let looks = Mutex(0)
    func value() -> Int {
      looks.withLock { $0 += 1 }
      return 1
    }
    logger.trace("\(value())")
    #expect(looks.withLock { $0 } == 0)
    logger.debug("\(value())")
    #expect(looks.withLock { $0 } == 1)
  }

  @Test func typesAreNamed() {
    logger.info("\(type(of: self), privacy: .public) \(LoggerTests.self)")
    #expect(lines == ["info calls: LoggerTests <private>"])
  }

  @Test func numbersAndTextsStandAsTheyAreAskedTo() {
    let message: OSLogMessage = """
      \(255, format: .hex) \(255, format: .hex(includePrefix: true, uppercase: true)) \
      \(8, format: .octal) \(0.5) \(2, align: .right(columns: 3))| \
      \("a", align: .left(columns: 3), privacy: .public)| \(false, format: .answer)
      """
    #expect(message.text == "ff 0xFF 10 0.500000   2| a  | no")
    #expect(OSLogFloatFormatting.fixed(precision: 900).text(1).count == 62)
  }
}
