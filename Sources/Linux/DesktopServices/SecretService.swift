import Dispatch
import Synchronization

/// The desktop's keyring (freedesktop.org Secret Service API, draft 0.2).
///
/// Secrets cross the bus unencrypted, since it is the user's own.
///
/// **Thread safety:** every method may be called from any thread, and blocks: a keyring that is
/// locked asks its user, for up to a minute.
package final class SecretService: Sendable {
  private static let service = "org.freedesktop.secrets"
  private static let root = "/org/freedesktop/secrets"
  private static let interface = "org.freedesktop.Secret"
  /// Object path of the collection that new secrets are stored in.
  private static let collection = root + "/aliases/default"
  /// Time for the user to answer the keyring's prompt, in seconds.
  private static let patience = 60

  private let bus: BusConnection
  private let session: String

  /// The keyring of a bus, by default the user's; nil if there is none.
  package init?(address: String? = nil) {
    guard let bus = BusConnection(address: address), bus.hasService(Self.service) else {
      return nil
    }
    self.bus = bus
    let answer = bus.ask(
      Self.service,
      path: Self.root,
      interface: "\(Self.interface).Service",
      "OpenSession",
      [.string("plain"), .variant(.string(""))]
    )
    guard case .success(let values) = answer, case .string(let session)? = values.last else {
      return nil
    }
    self.session = session
  }

  /// The secret that is stored with these attributes; nil if there is none, or the user does not
  /// unlock it.
  package func secret(with attributes: [String: String]) -> String? {
    guard let item = items(with: attributes).first,
      case .structure(let fields)? = ask(item, "Item", "GetSecret", [.path(session)])?.first,
      fields.count == 4, case .bytes(let bytes) = fields[2]
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Stores a secret, in place of one with the same attributes; false if that fails.
  package func set(_ secret: String, label: String, attributes: [String: String]) -> Bool {
    if case .bool(true)? = bus.property(
      "Locked",
      of: "\(Self.interface).Collection",
      at: Self.collection,
      on: Self.service
    ) {
      guard unlock([Self.collection]) else { return false }
    }
    let properties: [String: BusValue] = [
      "\(Self.interface).Item.Label": .string(label),
      "\(Self.interface).Item.Attributes": .texts(attributes),
    ]
    let value = BusValue.structure([
      .path(session), .bytes([]), .bytes(Array(secret.utf8)), .string("text/plain"),
    ])
    let made = ask(
      Self.collection,
      "Collection",
      "CreateItem",
      [.dictionary(properties), value, .bool(true)]
    )
    guard case .string(let item)? = made?.first else { return false }
    // "/" stands for one that is made once the user agrees.
    return item != "/" || complete(made?.last)
  }

  /// Deletes the secrets that are stored with these attributes.
  package func remove(with attributes: [String: String]) {
    for item in items(with: attributes) {
      _ = complete(ask(item, "Item", "Delete", [])?.first)
    }
  }

  // Unlocked ones; the user is asked for the others.
  private func items(with attributes: [String: String]) -> [String] {
    let found = ask(Self.root, "Service", "SearchItems", [.texts(attributes)]) ?? []
    guard found.count == 2, case .strings(let open) = found[0], case .strings(let locked) = found[1]
    else { return [] }
    if !open.isEmpty || locked.isEmpty { return open }
    return unlock(locked) ? locked : []
  }

  private func unlock(_ objects: [String]) -> Bool {
    let answer = ask(Self.root, "Service", "Unlock", [.paths(objects)])
    guard let answer, answer.count == 2 else { return false }
    return complete(answer[1])
  }

  private func ask(
    _ path: String,
    _ interface: String,
    _ member: String,
    _ arguments: [BusValue]
  ) -> [BusValue]? {
    let answer = bus.ask(
      Self.service,
      path: path,
      interface: "\(Self.interface).\(interface)",
      member,
      arguments
    )
    if case .success(let values) = answer { return values }
    return nil
  }

  // Shows the keyring's question and waits for the answer; no question has the path "/".
  private func complete(_ prompt: BusValue?) -> Bool {
    guard case .string(let path)? = prompt else { return false }
    guard path != "/" else { return true }
    let isAnswered = DispatchSemaphore(value: 0)
    let isAgreed = SharedFlag()
    bus.subscribe(to: "\(Self.interface).Prompt", of: Self.service) { signal in
      guard signal.path == path, signal.member == "Completed" else { return }
      if case .bool(let isDismissed)? = signal.arguments.first { isAgreed.set(!isDismissed) }
      isAnswered.signal()
    }
    guard ask(path, "Prompt", "Prompt", [.string("")]) != nil,
      isAnswered.wait(timeout: .now() + .seconds(Self.patience)) == .success
    else { return false }
    return isAgreed.value
  }
}

/// A result that a handler sets on another queue.
private final class SharedFlag: Sendable {
  private let state = Atomic(false)

  var value: Bool { state.load(ordering: .acquiring) }

  func set(_ value: Bool) { state.store(value, ordering: .releasing) }
}
