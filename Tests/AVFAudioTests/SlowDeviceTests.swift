import ALSAAudio
import CLinux
import Foundation
import Testing

@testable import AVFAudio

/// A device that takes its time to open: a virtual microphone whose file is a pipe.
///
/// Nothing comes out of the pipe until the test writes. What waited for the device would wait for
/// ever, and the time limit would end the test.
@Suite(.timeLimit(.minutes(10)))
struct SlowDeviceTests {
  /// A pipe with a name.
  private final class Pipe {
    let path = FileManager.default.temporaryDirectory
      .appendingPathComponent("slow-\(UUID().uuidString).wav").path
    private var descriptor: CInt = -1

    init() throws {
      // A reader that has gone is an error of `write`, not the end of the tests.
      signal(SIGPIPE, SIG_IGN)
      try #require(unsafe mkfifo(path, 0o600) == 0)
    }

    deinit {
      if descriptor >= 0 { close(descriptor) }
      unsafe unlink(path)
    }

    /// Returns once the session has begun to open the device.
    func waitForReader() {
      // Refused as long as there is no reader.
      while descriptor < 0 { descriptor = unsafe open(path, O_WRONLY | O_NONBLOCK) }
    }

    /// Lets the device open.
    func finish() throws {
      let wave =
        WaveFile.header(rateHertz: 48_000, sampleCount: 480) + [UInt8](repeating: 0, count: 960)
      try FileHandle(fileDescriptor: descriptor).write(contentsOf: Data(wave))
      close(descriptor)
      descriptor = -1
    }
  }

  private let pipe: Pipe
  private let session = AVAudioSession()

  init() throws {
    pipe = try Pipe()
    session.devices = .init(capture: .file(pipe.path), playback: .null)
    try session.setCategory(.playAndRecord)
  }

  @Test func nothingWaitsWhileACallsDevicesOpen() async throws {
    let (results, continuation) = AsyncStream<Bool>.makeStream()
    session.activateForCall { continuation.yield($0 == nil) }
    pipe.waitForReader()
    #expect(session.category == .playAndRecord && session.voiceEngine == nil)
    #expect(!session.currentRoute.inputs.isEmpty)
    try session.setMode(.voiceChat)
    // The call owns the session already (R95, R96).
    try session.setActive(true)
    try session.setActive(false)
    try pipe.finish()
    var iterator = results.makeAsyncIterator()
    #expect(await iterator.next() == true)
    #expect(session.voiceEngine != nil)
    session.endCall()
    #expect(session.voiceEngine == nil)
  }

  // What the app wished for meanwhile is committed with the engine, not lost.
  @Test func wishesOfMeanwhileCountOnceTheDevicesAreOpen() async throws {
    let (results, continuation) = AsyncStream<Bool>.makeStream()
    session.activateForCall { continuation.yield($0 == nil) }
    pipe.waitForReader()
    let (routes, routeContinuation) = AsyncStream<String>.makeStream()
    let token = NotificationCenter.default.addObserver(
      forName: AVAudioSession.routeChangeNotification,
      object: session,
      queue: nil
    ) { [session] _ in routeContinuation.yield(session.currentRoute.inputs.first?.uid ?? "") }
    defer { NotificationCenter.default.removeObserver(token) }
    session.devices = .init(capture: .null, playback: .null)
    session.setInputMuted(true)
    try pipe.finish()
    var iterator = results.makeAsyncIterator()
    #expect(await iterator.next() == true)
    for await input in routes where input == "null" { break }
    #expect(session.isInputMuted)
    session.endCall()
  }
}
