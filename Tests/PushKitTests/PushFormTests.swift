import Foundation
import LocalSocket
import PushKit
import Testing

/// Forms in which apps take a push, old and new.
struct PushFormTests {
  /// Methods of a delegate that were called, with the handles in their pushes.
  struct App: Sendable {
    let calls: AsyncStream<String>
    let continuation: AsyncStream<String>.Continuation

    init() { (calls, continuation) = AsyncStream.makeStream() }

    func note(_ form: String, _ payload: PKPushPayload) {
      continuation.yield("\(form) \(payload.dictionaryPayload["handle"] ?? "")")
    }
  }

  final class Deaf: NSObject, PKPushRegistryDelegate {}

  final class Usual: NSObject, PKPushRegistryDelegate {
    let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType,
      completion: @escaping () -> Void
    ) {
      app.note("completion", payload)
      completion()
    }
  }

  /// Compiled for old systems as well.
  final class Both: NSObject, PKPushRegistryDelegate {
    let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType,
      completion: @escaping () -> Void
    ) {
      app.note("completion", payload)
      completion()
    }
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType
    ) {
      app.note("oldest", payload)
    }
  }

  final class Oldest: NSObject, PKPushRegistryDelegate {
    let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType
    ) {
      app.note("oldest", payload)
    }
  }

  final class Asynchronous: NSObject, PKPushRegistryDelegate {
    let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType
    ) async {
      await Task.yield()
      app.note("async", payload)
    }
  }

  @MainActor final class OnMain: NSObject, PKPushRegistryDelegate {
    nonisolated let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType
    ) async {
      app.note("main", payload)
    }
  }

  final class Newest: NSObject, PKPushRegistryDelegate {
    let app = App()
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingVoIPPushWith payload: PKPushPayload,
      metadata: PKVoIPPushMetadata
    ) async {
      app.note("metadata \(metadata.mustReport)", payload)
    }
    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType,
      completion: @escaping () -> Void
    ) {
      app.note("completion", payload)
      completion()
    }
  }

  private static func pushes(
    _ handles: [String],
    to delegate: any PKPushRegistryDelegate,
    isLate: Bool = false
  ) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("push-\(UUID().uuidString.prefix(8))")
    let environment = ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path + "/state"]
    let queue = DispatchQueue(label: "pushes")
    let registry = PKPushRegistry(queue: queue, environment: environment)
    if !isLate { registry.delegate = delegate }
    registry.desiredPushTypes = [.voIP]
    let token = try #require(registry.pushToken(for: .voIP))
    let name = token.map { String(format: "%02x", $0) }.joined()
    let socket = folder.path + "/push/\(ProcessInfo.processInfo.processName).voip.sock"
    for handle in handles {
      let line = #"{"token":"\#(name)","payload":{"handle":"\#(handle)"}}"#
      #expect(LineClient.ask(line, at: socket) == #"{"status":200}"#)
    }
    registry.delegate = delegate
    queue.sync {}
    withExtendedLifetime(registry) {}
  }

  private static func expect(
    _ expected: String...,
    of app: App,
    location: SourceLocation = #_sourceLocation
  ) async {
    var iterator = app.calls.makeAsyncIterator()
    for line in expected {
      let found = await iterator.next()
      #expect(found == line, sourceLocation: location)
    }
  }

  @Test(.timeLimit(.minutes(10))) func eachFormIsCalledOnceAndTheNewestFirst() async throws {
    let (usual, both, oldest, asynchronous) = (Usual(), Both(), Oldest(), Asynchronous())
    let (newest, main) = (Newest(), await OnMain())
    let all: [(any PKPushRegistryDelegate, App, String)] = [
      (usual, usual.app, "completion"), (both, both.app, "completion"),
      (oldest, oldest.app, "oldest"), (asynchronous, asynchronous.app, "async"),
      (main, main.app, "main"), (newest, newest.app, "metadata false"),
    ]
    for (delegate, app, form) in all {
      try await Self.pushes(["one"], to: delegate)
      await Self.expect("\(form) one", of: app)
      app.continuation.yield("nothing more")
      await Self.expect("nothing more", of: app)
    }
    // One that takes no push is asked in every form, and nothing goes wrong.
    try await Self.pushes(["one"], to: Deaf())
  }

  @Test(.timeLimit(.minutes(10))) func pushesWaitForADelegate() async throws {
    let app = Asynchronous()
    try await Self.pushes(["one"], to: app, isLate: true)
    await Self.expect("async one", of: app.app)
  }
}

/// The delegates of these tests take no token.
extension PKPushRegistryDelegate {
  func pushRegistry(
    _ registry: PKPushRegistry,
    didUpdate pushCredentials: PKPushCredentials,
    for type: PKPushType
  ) {}
}
