import CRig
package import Foundation
import Synchronization

/// A process that a test or a benchmark has started.
///
/// It has a group of its own, the system's default signals, none of them blocked, and its standard
/// descriptors alone: Foundation's `Process` hands on some of what other threads have open.
///
/// **Threads:** any. **Life cycle:** started by the initialiser, killed at the latest by `deinit`.
package final class ChildProcess: Sendable {
  /// Process identifier.
  package let identifier: Int32
  /// Descriptor of the process (pidfd_open(2)), which polls as readable once the process has ended.
  package let end: Int32
  // Nil until it has been collected: its number is not given to another process before.
  private let status = Mutex<Int32?>(nil)

  /// Starts a program, a path or a name that is looked up in `PATH`; throws a `RigError` on
  /// failure.
  ///
  /// Standard descriptors that are nil are `/dev/null`.
  package init(
    _ program: String,
    _ arguments: [String],
    environment: [String: String] = ProcessInfo.processInfo.environment,
    folder: URL? = nil,
    input: Int32? = nil,
    output: Int32? = nil,
    errors: Int32? = nil
  ) throws {
    var actions = unsafe posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    unsafe posix_spawn_file_actions_init(&actions)
    unsafe posix_spawnattr_init(&attributes)
    defer {
      unsafe posix_spawn_file_actions_destroy(&actions)
      unsafe posix_spawnattr_destroy(&attributes)
    }
    for (target, source) in [input, output, errors].enumerated() {
      if let source {
        unsafe posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
      } else {
        unsafe posix_spawn_file_actions_addopen(&actions, Int32(target), "/dev/null", O_RDWR, 0)
      }
    }
    unsafe rig_close_others(&actions)
    if let folder { unsafe rig_change_folder(&actions, folder.path) }
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe posix_spawnattr_setsigmask(&attributes, &signals)
    unsafe sigfillset(&signals)
    unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
    unsafe posix_spawnattr_setflags(&attributes, Int16(flags))

    var process: pid_t = 0
    let code = unsafe Self.withPointers(to: [program] + arguments) { arguments in
      unsafe Self.withPointers(to: environment.map { "\($0)=\($1)" }) { environment in
        unsafe posix_spawnp(&process, program, &actions, &attributes, arguments, environment)
      }
    }
    guard code == 0 else {
      throw RigError("\(program) cannot be started: \(unsafe String(cString: strerror(code)))")
    }
    identifier = process
    end = rig_process_descriptor(process)
    guard end >= 0 else {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
      throw RigError("\(program): pidfd_open(2) failed")
    }
  }

  private static func withPointers<Result>(
    to strings: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
  }

  deinit {
    if isRunning { signal(SIGKILL) }
    _ = collect()
    close(end)
  }

  /// False once the process has ended.
  package var isRunning: Bool {
    LoopbackSocket.ready([end], within: 0).isEmpty
  }

  /// Sends the process a signal, unless it has ended.
  package func signal(_ number: Int32) {
    status.withLock { if $0 == nil { kill(identifier, number) } }
  }

  /// Kills the process and everything it has started, except what has left its group.
  package func killGroup() { kill(-identifier, SIGKILL) }

  /// Waits for the end of the process and returns its exit status, or as in shells 128 plus the
  /// number of the signal that ended it; nil if it still runs after `seconds`.
  package func waitForExit(seconds: Double) -> Int32? {
    LoopbackSocket.ready([end], within: seconds).isEmpty ? nil : collect()
  }

  /// Waits until the process has ended and returns its exit status.
  package func waitForExit() -> Int32 { collect() }

  private func collect() -> Int32 {
    // Without the lock: a process that is being waited for may be sent signals.
    var info = unsafe siginfo_t()
    while unsafe waitid(P_PID, id_t(identifier), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return status.withLock { status in
      if let status { return status }
      var word: Int32 = 0
      let isCollected = unsafe waitpid(identifier, &word, 0) == identifier
      let signal = word & 0x7F
      let found = !isCollected ? 255 : signal == 0 ? word >> 8 & 0xFF : 128 + signal
      status = found
      return found
    }
  }
}
