import Dispatch
import PushKit

/// An app that takes one push, says what it got, and ends.
final class App: NSObject, PKPushRegistryDelegate {
  func pushRegistry(
    _ registry: PKPushRegistry,
    didUpdate pushCredentials: PKPushCredentials,
    for type: PKPushType
  ) {
    print("token of \(pushCredentials.token.count) bytes")
  }

  func pushRegistry(
    _ registry: PKPushRegistry,
    didReceiveIncomingPushWith payload: PKPushPayload,
    for type: PKPushType,
    completion: @escaping () -> Void
  ) {
    print("push from \(payload.dictionaryPayload["handle"] ?? "?")")
    completion()
    // The answer goes out first.
    DispatchQueue.main.asyncAfter(deadline: .now() + 0.1) { exit(0) }
  }
}

let app = App()
let registry = PKPushRegistry(queue: .main)
registry.delegate = app
registry.desiredPushTypes = [.voIP]
dispatchMain()
