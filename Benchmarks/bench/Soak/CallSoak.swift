import ALSAAudio
import AudioRouting
import CallSecurity
import Foundation
import ProgramRig
import Rig
import SidetonePhone

/// Real, encrypted calls, one after the other.
///
/// This process calls an echo line; and a listening phone is called by one process after the other,
/// each from another address, since a phone takes few calls from one.
struct CallSoak {
  private let program: String
  private let folder: URL
  private let calls: Int

  private static let samples = 500
  private static let callSeconds = 0.05
  private static let addresses = 16

  /// Creates a soak of `calls` calls of each kind; the programs keep their files in `folder`.
  init(_ program: String, in folder: URL, calls: Int) {
    self.program = program
    self.folder = folder
    self.calls = calls
  }

  private func isSampled(_ call: Int) -> Bool { call % max(1, calls / Self.samples) == 0 }

  private func start(_ role: String, _ options: [String]) throws -> (RunningProgram, port: Int) {
    let port = Int.random(in: 10_000..<15_000) * 2
    let listener = try RunningProgram(
      Invocation(program, ["listen", "--answer", "--listen", "127.0.0.1:\(port)"] + options),
      environment: environment(of: role),
      log: folder.appendingPathComponent("\(role).log")
    )
    guard listener.waits(for: "Listening at", seconds: 10) else {
      throw RigError("sidetone does not listen: \(listener.output)")
    }
    return (listener, port)
  }

  private func environment(of role: String) -> [String: String] {
    ["XDG_DATA_HOME": folder.appendingPathComponent(role).path]
  }

  /// Calls an echo line from this process, and returns the resources that both held.
  func runCaller() async throws -> (caller: SoakRecord, echo: SoakRecord) {
    let (listener, port) = try start("echo", ["--echo"])
    defer { listener.stop() }
    // Read when the first call ends.
    for (name, value) in environment(of: "caller") { unsafe setenv(name, value, 1) }
    var configuration = PhoneConfiguration()
    configuration.hosts = ["127.0.0.1"]
    configuration.port = 0
    configuration.mediaPort = 0
    configuration.security = .required
    configuration.devices = DeviceSelection(capture: .null, playback: .null)
    let phone = Phone(configuration)
    try await phone.start()
    var records = (
      caller: record("A phone that makes \(calls) calls"),
      echo: record("An echo line that answers \(calls) calls")
    )
    var events = phone.events.makeAsyncIterator()
    for call in 1...calls {
      try await makeCall(with: phone, to: "sip:bob@127.0.0.1:\(port)", &events)
      guard isSampled(call) else { continue }
      let own = ProcessInfo.processInfo.processIdentifier
      records.caller.samples.append(try sample("caller", own, after: call))
      records.echo.samples.append(try sample("echo", listener.processIdentifier, after: call))
    }
    await phone.stop()
    return records
  }

  private func makeCall(
    with phone: Phone,
    to address: String,
    _ events: inout AsyncStream<PhoneEvent>.Iterator
  ) async throws {
    let uuid = try await phone.call(address)
    while let event = await events.next(isolation: #isolation) {
      switch event {
      case .connected(uuid, _):
        try await Task.sleep(for: .seconds(Self.callSeconds))
        try await phone.end(uuid)
      case .ended(uuid, let end):
        guard end.isClean else { throw RigError("a call failed: \(event)") }
        return
      default: break
      }
    }
  }

  /// Calls a listening phone from a process for each call, and returns the resources that the phone
  /// held.
  func runListener() throws -> SoakRecord {
    let (listener, port) = try start("listener", ["--headset", "null"])
    defer { listener.stop() }
    var record = record("A phone that answers \(calls) calls")
    for call in 1...calls {
      let caller = try RunningProgram(
        Invocation(
          program,
          [
            "call", "sip:bob@127.0.0.1:\(port);transport=udp", "--headset", "null", "--security",
            "required",
            "--listen", "127.0.1.\(1 + call % Self.addresses):0",
            "--duration", "\(Self.callSeconds)",
          ]
        ),
        environment: environment(of: "callers"),
        log: folder.appendingPathComponent("caller.log")
      )
      guard caller.waitForExit() == 0 else { throw RigError("a call failed: \(caller.output)") }
      guard isSampled(call) else { continue }
      record.samples.append(try sample("listener", listener.processIdentifier, after: call))
    }
    return record
  }

  private func record(_ title: String) -> SoakRecord {
    SoakRecord(title: title, unit: "calls", command: Machine().command ?? "")
  }

  private func sample(
    _ role: String,
    _ process: Int32,
    after calls: Int
  ) throws -> SoakRecord.Sample {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder.appendingPathComponent("\(role)/sidetone"),
      includingPropertiesForKeys: [.fileSizeKey]
    )
    return SoakRecord.Sample(
      at: Double(calls),
      holdings: try ProcessHoldings(of: process),
      storedBytes: try files.reduce(0) {
        $0 + (try $1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
      }
    )
  }
}
