// Owns the timespec of this module: its header is the first to include <time.h>.
import CRig
package import Foundation

/// A program, its arguments, and the output that shows it is ready.
package struct Invocation {
  /// A path, or a name that is looked up in `PATH`.
  package var program: String
  /// Arguments, without the program's name.
  package var arguments: [String]
  /// Regular expression that matches the output once the program is ready; nil if no output shows
  /// that.
  package var readiness: String?

  /// An invocation.
  package init(_ program: String, _ arguments: [String], readiness: String? = nil) {
    self.program = program
    self.arguments = arguments
    self.readiness = readiness
  }

  /// The same program inside a network namespace; unchanged if that is nil.
  package func inside(_ namespace: String?) -> Invocation {
    guard let namespace else { return self }
    return Invocation(
      "ip",
      ["netns", "exec", namespace, program] + arguments,
      readiness: readiness
    )
  }
}

/// A process of a test or a benchmark, whose output goes to a file.
package final class RunningProgram {
  private let process: ChildProcess
  private let log: URL
  private let watch: FolderWatch

  /// Starts a program with `environment` on top of this process's.
  package init(_ invocation: Invocation, environment: [String: String], log: URL) throws {
    self.log = log
    watch = try FolderWatch(log.deletingLastPathComponent())
    _ = FileManager.default.createFile(atPath: log.path, contents: nil)
    let output = try FileHandle(forWritingTo: log)
    // Settings of the user who measures change nothing, and not even root can make such a folder.
    let own = ["XDG_CONFIG_HOME": "/proc/nonexistent"]
    process = try ChildProcess(
      invocation.program,
      invocation.arguments,
      environment: ProcessInfo.processInfo.environment.merging(own) { $1 }
        .merging(environment) { $1 },
      output: output.fileDescriptor,
      errors: output.fileDescriptor
    )
    // The program has it now.
    try output.close()
  }

  deinit {
    stop()
  }

  /// Everything that the program has printed so far.
  package var output: String {
    String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self)
  }

  /// True until the program has ended.
  package var isRunning: Bool { process.isRunning }

  /// Waits until the output matches a regular expression; false if the time runs out or the program
  /// ends first.
  package func waits(for pattern: String, seconds: Double) -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    while true {
      // Asked first: the last words of a program that has ended count.
      let isOver = !isRunning
      if output.range(of: pattern, options: .regularExpression) != nil { return true }
      guard !isOver, watch.wait(or: process.end, until: end) else { return false }
    }
  }

  /// Waits until the program has ended and returns its status.
  package func waitForExit() -> Int32 { process.waitForExit() }

  /// Waits until the program has ended and returns its status; nil if it still runs after
  /// `seconds`.
  package func waitForExit(seconds: Double) -> Int32? { process.waitForExit(seconds: seconds) }

  /// Processor time of all its threads and its children's so far, in seconds, as the scheduler
  /// counts it.
  ///
  /// The clock ticks of `proc(5)` miss threads that sleep whenever a tick strikes.
  package var processorSeconds: Double {
    family.reduce(0) { sum, process in
      var clock: clockid_t = 0
      var time = timespec()
      guard unsafe clock_getcpuclockid(process, &clock) == 0,
        unsafe clock_gettime(clock, &time) == 0
      else { return sum }
      return sum + Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
  }

  /// The part of `processorSeconds` that running threads of one real-time priority have spent.
  ///
  /// Nil if it has no such thread.
  package func processorSeconds(atPriority priority: Int) -> Double? {
    let spent = family.flatMap { process -> [Double] in
      let folder = "/proc/\(process)/task"
      // A process that has ended has no threads.
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return threads.compactMap { Self.spent(by: "\(folder)/\($0)", atPriority: priority) }
    }
    return spent.isEmpty ? nil : spent.reduce(0, +)
  }

  // Of a thread, in seconds; nil if it has another priority (`proc(5)`).
  private static func spent(by folder: String, atPriority priority: Int) -> Double? {
    // A thread that has ended has spent nothing.
    guard let status = try? String(contentsOfFile: "\(folder)/stat", encoding: .utf8),
      let times = try? String(contentsOfFile: "\(folder)/schedstat", encoding: .utf8),
      let name = status.lastIndex(of: ")")
    else { return nil }
    // The name is field 2 and may hold spaces; the priority is field 40.
    let fields = status[name...].split(separator: " ")
    guard fields.count > 38, Int(fields[38]) == priority else { return nil }
    return times.split(separator: " ").first.flatMap { Double($0) }.map { $0 / 1e9 }
  }

  /// Peak of resident memory, in megabytes of 10^6 bytes; memory that children share counts for
  /// each.
  package var peakMegabytes: Double { megabytes("VmHWM:") }

  /// Resident memory now, in megabytes of 10^6 bytes.
  package var residentMegabytes: Double { megabytes("VmRSS:") }

  private func megabytes(_ field: String) -> Double {
    family.reduce(0) { $0 + Double(Self.status(of: $1, field) ?? 0) * 1_024 / 1e6 }
  }

  private static func status(of process: Int32, _ field: String) -> Int? {
    // A process that has ended has no status.
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) })
    else { return nil }
    return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) }
  }

  // The process, its children, and theirs.
  private var family: [Int32] {
    // Without /proc there are no figures at all.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let parents = names.compactMap { Int32($0) }.compactMap { process in
      Self.status(of: process, "PPid:").map { (process: process, parent: Int32($0)) }
    }
    var found = [processIdentifier]
    var next = 0
    while next < found.count {
      found += parents.filter { $0.parent == found[next] }.map(\.process)
      next += 1
    }
    return found
  }

  /// Identifier of the process that was started.
  package var processIdentifier: Int32 { process.identifier }

  /// Ends the program as a crash does.
  package func crash() {
    process.signal(SIGKILL)
    _ = process.waitForExit()
  }

  /// Suspends the program until `thaw`, as if it hung.
  package func freeze() { process.signal(SIGSTOP) }

  /// Resumes a suspended program.
  package func thaw() { process.signal(SIGCONT) }

  /// Ends the program, by force if it does not go within two seconds.
  package func stop() {
    process.signal(SIGINT)
    if process.waitForExit(seconds: 2) == nil { crash() }
  }
}

/// Runs a program to its end, in a folder if one is given; throws if it fails.
package func run(_ program: String, _ arguments: [String], in folder: URL? = nil) throws {
  let errors = FileManager.default.temporaryDirectory
    .appendingPathComponent("errors-\(UUID().uuidString)")
  _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
  defer { try? FileManager.default.removeItem(at: errors) }
  let file = try FileHandle(forUpdating: errors)
  let process = try ChildProcess(program, arguments, folder: folder, errors: file.fileDescriptor)
  let status = process.waitForExit()
  try file.close()
  guard status == 0 else {
    let words = try Data(contentsOf: errors)
    let end = String(decoding: words.suffix(500), as: UTF8.self)
    throw RigError("\(program) \(arguments.joined(separator: " ")) failed: \(end)")
  }
}
