import Foundation
import PushKit
import Testing

/// There is no push service on Linux: apps compile, and nothing comes (R107).
struct PKPushRegistryTests {
  /// A delegate that implements what Apple requires, and no more.
  private final class App: NSObject, PKPushRegistryDelegate {
    private(set) var tokens = 0

    func pushRegistry(
      _ registry: PKPushRegistry,
      didUpdate pushCredentials: PKPushCredentials,
      for type: PKPushType
    ) { tokens += 1 }
  }

  @Test func R107_thereIsNeverAToken() {
    let registry = PKPushRegistry(queue: nil)
    let app = App()
    registry.delegate = app
    registry.desiredPushTypes = [.voIP]
    #expect(registry.pushToken(for: .voIP) == nil && app.tokens == 0)
    #expect(registry.desiredPushTypes == [.voIP] && registry.delegate === app)
  }

  @Test func theDelegateIsHeldWeakly() {
    let registry = PKPushRegistry(queue: nil)
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
