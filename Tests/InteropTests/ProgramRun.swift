import Foundation
import ProgramRig
import Synchronization

/// A program that runs beside the test, with its output as lines.
///
/// `wait(for:)` blocks the test until a line with the given text has come. Time limits only bound
/// the cost of a failure: a machine that is merely busy does not reach them.
///
/// **Life cycle:** started by the initialiser, killed at the latest by `deinit`.
// SAFETY: the lines are guarded by `condition`; what else is kept does not change.
final class ProgramRun: @unchecked Sendable {
  private let process: ChildProcess
  private let input: FileHandle
  private let condition = NSCondition()
  private var text = ""
  /// Exit status, or 128 plus the number of the signal that ended the program; nil while it runs.
  private var status: Int32?
  private var isAtEnd = false

  /// Folder of programs' data, unless a test names another.
  ///
  /// Each run of the tests has its own: what one left would belong to a stranger at the same port
  /// in the next.
  private static let data = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidetone-tests-\(ProcessInfo.processInfo.processIdentifier)").path

  /// Identifier of the process.
  var identifier: Int32 { process.identifier }

  /// Starts a program, with `environment` added to that of the tests.
  init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    // Settings of the user who runs the tests change nothing, and not even root can make such a
    // folder; nor do the user's calls and known peers, and nothing appears on the user's desktop.
    let own = [
      "XDG_CONFIG_HOME": "/proc/nonexistent", "XDG_DATA_HOME": Self.data,
      "DBUS_SESSION_BUS_ADDRESS": "unix:path=/proc/nonexistent",
    ]
    Foundation.signal(SIGPIPE, SIG_IGN)
    let (output, input) = (Pipe(), Pipe())
    process = try ChildProcess(
      path,
      arguments,
      environment: ProcessInfo.processInfo.environment.merging(own) { $1 }
        .merging(environment) { $1 },
      input: input.fileHandleForReading.fileDescriptor,
      output: output.fileHandleForWriting.fileDescriptor,
      errors: output.fileHandleForWriting.fileDescriptor
    )
    // The program has them now.
    try input.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
    self.input = input.fileHandleForWriting
    let reading = output.fileHandleForReading
    Thread.detachNewThread { [weak self] in
      while let text = Self.read(from: reading.fileDescriptor) { self?.append(text) }
      self?.noteEnd()
    }
    Thread.detachNewThread { [weak self, process] in
      let status = process.waitForExit()
      self?.noteExit(status)
    }
  }

  private static func read(from descriptor: CInt) -> String? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let length = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return length > 0 ? String(decoding: bytes[..<length], as: UTF8.self) : nil
  }

  deinit {
    process.signal(SIGKILL)
  }

  private func append(_ more: String) {
    condition.withLock {
      text += more
      condition.broadcast()
    }
  }

  private func noteEnd() {
    condition.withLock {
      isAtEnd = true
      condition.broadcast()
    }
  }

  private func noteExit(_ status: Int32) {
    condition.withLock {
      self.status = status
      condition.broadcast()
    }
  }

  /// Everything that was printed so far.
  var output: String { condition.withLock { text } }

  /// True if `expected` has been printed.
  func printed(_ expected: String) -> Bool { output.contains(expected) }

  /// True if `expected` is printed `count` times in all, within `seconds`.
  func wait(for expected: String, times count: Int, seconds: Double = Patience.limit) -> Bool {
    wait(seconds: seconds) { text.components(separatedBy: expected).count > count }
  }

  /// True if `expected` is printed within `seconds`.
  func wait(for expected: String, seconds: Double = Patience.limit) -> Bool {
    wait(seconds: seconds) { text.contains(expected) }
  }

  /// True if voice arrives within the next seconds, by the program's own statistics.
  func hearsVoice() -> Bool {
    func counts() -> [Int] {
      output.matches(of: /"packetsReceived":(\d+)/).compactMap { Int($0.1) }
    }
    let before = counts().count
    guard wait(for: "\"packetsReceived\"", times: before + 4),
      let first = counts().dropFirst(before).first, let last = counts().last
    else { return false }
    return last > first
  }

  /// Processor time spent so far by all of its threads, in seconds (`utime`, `stime` of proc(5)).
  func processorSeconds() throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)
    // The second field is the name, in brackets.
    let fields = text.split(separator: ")").last?.split(separator: " ").dropFirst(11).prefix(2)
    return (fields ?? []).reduce(0) { $0 + (Double($1) ?? 0) / 100 }
  }

  /// The exit status, nil if the program still runs after `seconds`.
  func waitForExit(seconds: Double = Patience.limit) -> Int32? {
    guard wait(seconds: seconds, until: { status != nil }) else { return nil }
    // What it said last may still be on its way; a child of its own may hold the pipe for longer.
    _ = wait(seconds: 10) { isAtEnd }
    return condition.withLock { status }
  }

  private func wait(seconds: Double, until isTrue: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while !isTrue() {
        // Nothing more can come.
        if status != nil, isAtEnd { return false }
        guard condition.wait(until: end) else { return isTrue() }
      }
      return true
    }
  }

  /// Presses keys, which the program reads with `--keys`.
  func press(_ keys: String) {
    send(Array(keys.utf8))
  }

  /// Writes to the program's standard input.
  func send(_ bytes: [UInt8]) {
    // A program that has ended reads nothing.
    try? input.write(contentsOf: Data(bytes))
  }

  /// Kills the program with all that it has started: it has a group of its own.
  func killGroup() { process.killGroup() }

  /// Sends a signal.
  func signal(_ number: Int32) { process.signal(number) }
}
