import Foundation
import ProgramRig
import Synchronization
import Testing

/// The programs and voices that the tests use, and where they are.
enum Bench {
  static let program = ProgramUnderTest.url?.path

  static let baresip = find("baresip")
  static let espeak = find("espeak-ng")
  static let ip = geteuid() == 0 ? find("ip") : nil

  static func find(_ name: String) -> String? {
    ["/usr/bin/", "/usr/sbin/", "/sbin/", "/bin/"].map { $0 + name }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  /// Says what is missing, by packages.
  static func skip(_ packages: String) { ProgramUnderTest.noteSkipped(packages) }

  static func run(
    _ arguments: [String],
    environment: [String: String] = [:]
  ) throws -> ProgramRun {
    let program = try #require(program, "build the program first: swift build")
    return try ProgramRun(program, arguments, environment: environment)
  }

  /// Another program of this package.
  static func sibling(_ name: String) throws -> String {
    let program = try #require(program, "build the program first: swift build")
    return URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent(name)
      .path
  }

  /// A folder of the test's own.
  static func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sidetone-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// A spoken text as a WAV file.
  static func speak(_ text: String, voice: String, to file: URL) throws {
    let espeak = try #require(espeak, "install espeak-ng")
    let run = try ProgramRun(espeak, ["-v", voice, "-s", "150", "-w", file.path, text])
    #expect(run.waitForExit() == 0)
  }

  /// True if `heard` carries the speech of `said`.
  static func carries(_ said: URL, in heard: URL) throws -> Bool {
    let run = try run(["compare", said.path, heard.path])
    let status = run.waitForExit()
    print(run.output.trimmingCharacters(in: .whitespacesAndNewlines))
    return status == 0
  }

  private static let given = Mutex<Set<Int>>([])

  /// A closed port of this machine; the next one, for TLS, is closed as well, and the one after
  /// that, which SIPp binds for video.
  ///
  /// None is given twice: the far side at an address is remembered from test to test.
  static func port() -> Int {
    given.withLock { given in
      let ports = (0..<200).map { _ in 4 * Int.random(in: 5_000..<7_500) }
      let free = ports.first {
        !given.contains($0) && isFree($0, SOCK_DGRAM) && isFree($0, SOCK_STREAM)
          && isFree($0 + 1, SOCK_STREAM) && isFree($0 + 2, SOCK_DGRAM)
      }
      given.insert(free ?? ports[0])
      return free ?? ports[0]
    }
  }

  private static func isFree(_ port: Int, _ type: __socket_type) -> Bool {
    // Without a socket, it is not.
    (try? withSocket(type) { LoopbackSocket.bind($0, to: UInt16(port)) }) ?? false
  }

  /// Calls `body` with a socket, of UDP if nothing else is said.
  static func withSocket<Result>(
    _ type: __socket_type = SOCK_DGRAM,
    _ body: (Int32) throws -> Result
  ) throws -> Result {
    let descriptor = socket(AF_INET, Int32(type.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try body(descriptor)
  }

  /// Calls `body` with a port of this machine that takes connections and never says anything.
  static func withListener(_ body: (Int) throws -> Void) throws {
    try withListeningSocket { port, _ in try body(port) }
  }

  /// Calls `body` with such a port and the socket that listens at it.
  static func withListeningSocket(_ body: (Int, Int32) throws -> Void) throws {
    let port = port()
    try withSocket(SOCK_STREAM) { descriptor in
      try #require(LoopbackSocket.bind(descriptor, to: UInt16(port)))
      try #require(listen(descriptor, 8) == 0)
      try body(port, descriptor)
    }
  }

  /// Calls `body` with a port of this machine and a socket of UDP that is bound to it.
  static func withBoundSocket(
    at host: String = "127.0.0.1",
    _ body: (UInt16, Int32) throws -> Void
  ) throws {
    let port = UInt16(port())
    try withSocket { descriptor in
      try #require(LoopbackSocket.bind(descriptor, to: port, at: host))
      try body(port, descriptor)
    }
  }

  /// Accepts a connection, answers one SIP request by 200 OK as a registrar does, and closes it.
  ///
  /// Returns the request, nil if there was none. `seconds` stand beside the contact, as it came.
  static func answerOneRequest(at listener: Int32, granting seconds: Int? = nil) throws -> String? {
    var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, 10_000) == 1 else { return nil }
    let connection = accept(listener, nil, nil)
    defer { close(connection) }
    var text = ""
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while !text.hasSuffix("\r\n\r\n") {
      let length = unsafe recv(connection, &bytes, bytes.count, 0)
      guard length > 0 else { return nil }
      text += String(decoding: bytes[..<length], as: UTF8.self)
    }
    let kept = ["Via", "To", "From", "Call-ID", "CSeq", "Contact"]
    let lines = text.components(separatedBy: "\r\n").filter { line in
      kept.contains { line.hasPrefix("\($0):") } && !line.hasSuffix("expires=0")
    }
    .map { line in
      line.hasPrefix("Contact:") ? line + (seconds.map { ";expires=\($0)" } ?? "") : line
    }
    let answer =
      (["SIP/2.0 200 OK"] + lines + ["Expires: 600", "Content-Length: 0", "", ""])
      .joined(separator: "\r\n")
    return unsafe write(connection, answer, answer.utf8.count) > 0 ? text : nil
  }

  static let aliceText = "Hello Bob, this is Alice. Can you hear every word that I say to you now?"
  static let bobText =
    "Good morning Alice, this is Bob. Your voice is clear, and so should mine be."
}

/// Two sidetone processes on this machine with virtual headsets.
struct Pair {
  let folder: URL
  let listener: ProgramRun
  let caller: ProgramRun
  let port: Int

  var aliceSaid: URL { folder.appendingPathComponent("alice-said.wav") }
  var aliceHeard: URL { folder.appendingPathComponent("alice-heard.wav") }
  var bobSaid: URL { folder.appendingPathComponent("bob-said.wav") }
  var bobHeard: URL { folder.appendingPathComponent("bob-heard.wav") }

  init(
    duration: Double?,
    listenerOptions: [String] = [],
    callerOptions: [String] = [],
    suffix: String = ""
  ) throws {
    folder = try Bench.folder()
    port = Bench.port()
    let aliceSaid = folder.appendingPathComponent("alice-said.wav")
    let bobSaid = folder.appendingPathComponent("bob-said.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: aliceSaid)
    try Bench.speak(Bench.bobText, voice: "en+f3", to: bobSaid)
    listener = try Bench.run(
      [
        "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)",
        "--capture", "file:\(bobSaid.path)",
        "--playback", "file:\(folder.appendingPathComponent("bob-heard.wav").path)",
      ] + listenerOptions
    )
    #expect(listener.wait(for: "registered"))
    caller = try Bench.run(
      [
        "call", "sip:bob@127.0.0.1:\(port)\(suffix)", "--json",
        "--capture", "file:\(aliceSaid.path)",
        "--playback", "file:\(folder.appendingPathComponent("alice-heard.wav").path)",
      ] + (duration.map { ["--duration", "\($0)"] } ?? []) + callerOptions
    )
  }

  func bothHeardEachOther() throws -> Bool {
    let bob = try Bench.carries(aliceSaid, in: bobHeard)
    let alice = try Bench.carries(bobSaid, in: aliceHeard)
    return bob && alice
  }
}
