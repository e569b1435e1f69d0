import CallStore
import Foundation

/// Runs an extension and loads its entries into the store, all or none.
struct DirectoryLoader {
  /// Time in seconds after which a running extension is killed.
  private static let timeLimit: TimeInterval = 300
  private static let chunkBytes = 65_536

  let store: CallStore
  let source: DirectoryExtension
  /// Called with the number of entries so far, after each 100,000 and at the end.
  let progress: (Int) -> Void

  /// Runs the extension and blocks until it has ended; returns the error, nil after a success.
  func run() -> (any Error)? {
    let process = Process()
    let input = Pipe()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: source.executable)
    process.standardInput = input
    process.standardOutput = output
    var environment = ProcessInfo.processInfo.environment
    // Loading everything is right in any case, if slower.
    let isLoaded = (try? store.isExtensionLoaded(source.identifier)) ?? false
    environment[DirectoryChannel.environmentKey] = isLoaded ? "incremental" : "full"
    process.environment = environment
    do {
      try process.run()
    } catch {
      return CXErrorCodeCallDirectoryManagerError(.noExtensionFound)
    }
    let watchdog = DispatchWorkItem { [pid = process.processIdentifier] in
      // A script's own children may be the ones that keep it.
      kill(getpgid(pid) == pid ? -pid : pid, SIGKILL)
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.timeLimit, execute: watchdog)
    defer { watchdog.cancel() }

    let failure = load(from: output.fileHandleForReading)
    let verdict = (failure as? CXErrorCodeCallDirectoryManagerError).map { "\($0.code.rawValue)" }
    let answer = failure == nil ? "ok" : verdict ?? "0"
    Self.tell(answer + "\n", input.fileHandleForWriting)
    // The extension may have ended, and closed its end, before.
    try? input.fileHandleForWriting.close()
    // One that broke a rule may still be writing: closing the pipe ends it.
    try? output.fileHandleForReading.close()
    process.waitUntilExit()
    return failure
  }

  // An extension that has ended reads no verdict, which must not end this program.
  private static func tell(_ verdict: String, _ handle: FileHandle) {
    var pipeSignal = sigset_t()
    var former = sigset_t()
    unsafe sigemptyset(&pipeSignal)
    unsafe sigaddset(&pipeSignal, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipeSignal, &former)
    // Its reader may have ended already.
    try? handle.write(contentsOf: Data(verdict.utf8))
    var none = timespec()
    while unsafe sigtimedwait(&pipeSignal, nil, &none) == SIGPIPE {}
    unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  }

  private func load(from handle: FileHandle) -> (any Error)? {
    var reader = LineReader(handle: handle, chunkBytes: Self.chunkBytes)
    var count = 0
    do {
      try store.load(source.identifier) {
        guard let line = reader.next(), let message = DirectoryLine(line) else {
          throw CXErrorCodeCallDirectoryManagerError(.loadingInterrupted)
        }
        switch message {
        case .entry(let entry):
          count += 1
          if count % 100_000 == 0 { progress(count) }
          return entry
        case .complete:
          return nil
        case .cancel(let domain, let code, let text):
          let ours = CXErrorCodeCallDirectoryManagerError.Code(rawValue: code)
          if domain == CXErrorDomainCallDirectoryManager, let ours {
            throw CXErrorCodeCallDirectoryManagerError(ours)
          }
          let information = [NSLocalizedDescriptionKey: text]
          throw NSError(domain: domain, code: code, userInfo: information)
        }
      }
      progress(count)
      return nil
    } catch let fault as DirectoryFault {
      return CXErrorCodeCallDirectoryManagerError(fault: fault)
    } catch {
      return error
    }
  }
}

/// The lines of a pipe.
private struct LineReader {
  private static let longestLine = 1 << 16

  private let handle: FileHandle
  private var chunk: [UInt8]
  private var bytes: ArraySlice<UInt8> = []

  init(handle: FileHandle, chunkBytes: Int) {
    self.handle = handle
    chunk = Array(repeating: 0, count: chunkBytes)
  }

  mutating func next() -> Substring? {
    var end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    while end == nil {
      // FileHandle would wait for a whole chunk, and the extension for its verdict.
      let count = unsafe read(handle.fileDescriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      // No label is so long: an extension that has lost its way does not fill the memory.
      guard bytes.count < Self.longestLine else { return nil }
      bytes = ArraySlice(bytes + chunk[..<count])
      end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    }
    guard let end else { return nil }
    defer { bytes = bytes[(end + 1)...] }
    return Substring(String(decoding: bytes[..<end], as: UTF8.self))
  }
}

extension CXErrorCodeCallDirectoryManagerError {
  init(fault: DirectoryFault) {
    switch fault {
    case .entriesOutOfOrder: self.init(.entriesOutOfOrder)
    case .duplicateEntries: self.init(.duplicateEntries)
    case .maximumEntriesExceeded: self.init(.maximumEntriesExceeded)
    case .unexpectedIncrementalRemoval: self.init(.unexpectedIncrementalRemoval)
    case .noNumber: self.init(.unknown)
    case .isBusy: self.init(.currentlyLoading)
    }
  }
}
