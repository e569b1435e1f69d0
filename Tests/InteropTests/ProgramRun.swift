import Foundation
import ProgramRig
import Synchronization

/// A program that runs beside the test, with its output as lines.
///
/// `wait(for:)` blocks the test until a line with the given text has come or the time is up; there
/// are no sleeps. **Life cycle:** started by the initialiser, killed at the latest by `deinit`.
// SAFETY: the lines are guarded by `condition`; Process is used by the test's thread only.
final class ProgramRun: @unchecked Sendable {
  private let process = Process()
  private let input = Pipe()
  private let condition = NSCondition()
  private var text = ""
  /// What it ended with, be it a signal's number; nil while it runs.
  private var status: Int32?
  private var isAtEnd = false

  /// Where programs keep their data, unless a test says otherwise: what one run of the tests has
  /// left would be a stranger's at the same port in the next.
  private static let data = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidetone-tests-\(ProcessInfo.processInfo.processIdentifier)").path

  /// The system's number of the process.
  var identifier: Int32 { process.processIdentifier }

  /// Starts a program, with `environment` added to that of the tests.
  init(_ path: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    // Settings of the user who runs the tests change nothing, and not even root can make such a
    // folder; nor do the user's calls and known peers.
    let own = ["XDG_CONFIG_HOME": "/proc/nonexistent", "XDG_DATA_HOME": Self.data]
    process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
      .merging(environment) { $1 }
    Foundation.signal(SIGPIPE, SIG_IGN)
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = input
    try process.runWithoutBlockedSignals()
    // Threads of their own: one handler of Foundation's that waits would keep the others waiting.
    let descriptor = output.fileHandleForReading.fileDescriptor
    Thread.detachNewThread { [weak self] in
      while let text = Self.read(from: descriptor) { self?.append(text) }
      self?.noteEnd()
      // Foundation keeps the pipes of processes that have ended.
      try? output.fileHandleForReading.close()
    }
    let identifier = process.processIdentifier
    Thread.detachNewThread { [weak self] in
      // It stays for Foundation to be collected, which may be earlier.
      var info = unsafe siginfo_t()
      var code: Int32
      repeat {
        code = unsafe waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT)
      } while code != 0 && errno == EINTR
      self?.noteExit(code == 0 ? unsafe info._sifields._sigchld.si_status : nil)
    }
  }

  private static func read(from descriptor: CInt) -> String? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let length = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    return length > 0 ? String(decoding: bytes[..<length], as: UTF8.self) : nil
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    // Foundation keeps it; closed already is as good.
    try? input.fileHandleForWriting.close()
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

  private func noteExit(_ found: Int32?) {
    if found == nil { process.waitUntilExit() }
    let status = found ?? process.terminationStatus
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
  func wait(for expected: String, times count: Int, seconds: Double = 15) -> Bool {
    wait(seconds: seconds) { text.components(separatedBy: expected).count > count }
  }

  /// True if `expected` is printed within `seconds`.
  func wait(for expected: String, seconds: Double = 15) -> Bool {
    wait(seconds: seconds) { text.contains(expected) }
  }

  /// True if voice arrives within the next seconds, as the program's own figures tell.
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
  func waitForExit(seconds: Double = 20) -> Int32? {
    guard wait(seconds: seconds, until: { status != nil }) else { return nil }
    // What it said last may still be on its way; a child of its own may hold the pipe for longer.
    _ = wait(seconds: 2) { isAtEnd }
    return condition.withLock { status }
  }

  private func wait(seconds: Double, until isTrue: () -> Bool) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    return condition.withLock {
      while !isTrue() {
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
    try? input.fileHandleForWriting.write(contentsOf: Data(bytes))
  }

  /// Lets the program go on by itself.
  func letRun(seconds: Double) {
    _ = wait(seconds: seconds) { false }
  }

  /// Lets the program go on by itself until `isTrue`, for 15 s at most; whether it came to that.
  func letRun(until isTrue: () -> Bool) -> Bool {
    for _ in 0..<150 where !isTrue() { letRun(seconds: 0.1) }
    return isTrue()
  }

  /// Kills the program with all that it has started: it has a group of its own.
  func killGroup() {
    kill(-process.processIdentifier, SIGKILL)
  }

  /// Sends a signal.
  func signal(_ number: Int32) {
    kill(process.processIdentifier, number)
  }
}
