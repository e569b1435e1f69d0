import Foundation
import LocalSocket
import PushKit
import Testing

/// Tokens and pushes through the registry's socket, in folders of the test's own.
struct PKPushRegistryTests {
  /// A delegate that notes what comes.
  private final class App: NSObject, PKPushRegistryDelegate {
    var tokens: [Data] = []
    var handles: [String] = []
    var invalidated = 0
    let changed = DispatchSemaphore(value: 0)

    func pushRegistry(
      _ registry: PKPushRegistry,
      didUpdate pushCredentials: PKPushCredentials,
      for type: PKPushType
    ) {
      tokens.append(pushCredentials.token)
      changed.signal()
    }

    func pushRegistry(
      _ registry: PKPushRegistry,
      didReceiveIncomingPushWith payload: PKPushPayload,
      for type: PKPushType
    ) {
      handles.append(payload.dictionaryPayload["handle"] as? String ?? "")
      changed.signal()
    }

    func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType) {
      invalidated += 1
      changed.signal()
    }

    func wait() -> Bool { changed.wait(timeout: .now() + 10) == .success }
  }

  private let queue = DispatchQueue(label: "pushes")
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("push-\(UUID().uuidString.prefix(8))")

  private func registry(queue: DispatchQueue?) -> PKPushRegistry {
    let environment = ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": folder.path + "/state"]
    return PKPushRegistry(queue: queue, environment: environment)
  }

  private var socket: String {
    folder.path + "/push/\(ProcessInfo.processInfo.processName).voip.sock"
  }

  private func line(_ token: Data?, _ handle: String) -> String {
    let name = (token ?? Data()).map { String(format: "%02x", $0) }.joined()
    return #"{"token":"\#(name)","payload":{"handle":"\#(handle)"}}"#
  }

  @Test func aPushWithTheTokenReachesTheDelegate() throws {
    let registry = self.registry(queue: queue)
    let app = App()
    registry.delegate = app
    #expect(registry.pushToken(for: .voIP) == nil)
    registry.desiredPushTypes = [.voIP]
    #expect(app.wait())
    let token = try #require(registry.pushToken(for: .voIP))
    #expect(token.count == 32 && app.tokens == [token])
    #expect(LineClient.ask(line(token, "sip:alice@host"), at: socket) == #"{"status":200}"#)
    #expect(app.wait())
    #expect(app.handles == ["sip:alice@host"])
    let answer = LineClient.ask(line(Data(count: 32), "sip:mallory@host"), at: socket)
    #expect(answer == #"{"status":400,"reason":"BadDeviceToken"}"#)
    #expect(app.handles.count == 1)
  }

  @Test func theTokenStaysUntilItIsNotDesired() throws {
    let app = App()
    var tokens: [Data?] = []
    for _ in 0..<2 {
      let registry = self.registry(queue: queue)
      registry.delegate = app
      registry.desiredPushTypes = [.voIP]
      #expect(app.wait())
      tokens.append(registry.pushToken(for: .voIP))
      if tokens.count == 2 {
        registry.desiredPushTypes = []
        #expect(app.wait())
        #expect(app.invalidated == 1 && registry.pushToken(for: .voIP) == nil)
      }
      // The queue lets go of it as well, before the next one needs the socket.
      queue.sync {}
      withExtendedLifetime(registry) {}
    }
    #expect(tokens[0] != nil && tokens[0] == tokens[1])
    let next = registry(queue: queue)
    next.delegate = app
    next.desiredPushTypes = [.voIP]
    #expect(app.wait())
    #expect(next.pushToken(for: .voIP) != tokens[0])
  }

  @Test func onlyOneProgramHasTheTokenAtATime() {
    let first = registry(queue: queue)
    first.desiredPushTypes = [.voIP]
    let second = registry(queue: queue)
    second.desiredPushTypes = [.voIP]
    #expect(first.pushToken(for: .voIP) != nil && second.pushToken(for: .voIP) == nil)
  }

  @Test func otherKindsAndNoFolderHaveNoToken() {
    let registry = self.registry(queue: queue)
    registry.desiredPushTypes = [PKPushType(rawValue: "PKPushTypeFileProvider")]
    #expect(registry.pushToken(for: .voIP) == nil)
    let homeless = PKPushRegistry(queue: queue, environment: [:])
    homeless.desiredPushTypes = [.voIP]
    #expect(homeless.pushToken(for: .voIP) == nil)
  }

  @Test func theDelegateIsHeldWeakly() {
    let registry = self.registry(queue: nil)
    do {
      let app = App()
      registry.delegate = app
    }
    #expect(registry.delegate == nil)
  }

  @Test func typesHaveApplesNames() {
    #expect(PKPushType.voIP.rawValue == "PKPushTypeVoIP")
    #expect(PKPushType(rawValue: "PKPushTypeVoIP") == .voIP)
  }
}
