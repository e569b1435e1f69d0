import CallSecurity
import CallStore
import Dispatch
import Foundation

/// The far sides that a phone remembers.
///
/// **Thread safety:** a value; the file is read and written on a queue that may block.
struct PeerBook: Sendable {
  private let store: CallStore?
  private static let queue = DispatchQueue(label: "sidetone.peers")

  /// The peers in a store, nil for none.
  init(_ store: CallStore?) {
    self.store = store
  }

  /// The user's own.
  static func ofUser() async throws -> PeerBook {
    try await perform { PeerBook(try CallStore(in: CallStore.defaultFolder)) }
  }

  /// What is known of the far side at an address.
  ///
  /// Throws if the store cannot be read.
  func record(of address: String) async throws -> PeerRecord {
    guard let store else { return .unknown }
    let peer = try await Self.perform { try store.knownPeer(at: address) }
    switch peer {
    case nil: return .unknown
    case .encrypted: return .encrypted
    case .identity(let text, let isVerified):
      guard let fingerprint = Fingerprint(text) else {
        throw PhoneError("what is remembered of \(address) is damaged")
      }
      return .identity(fingerprint, isVerified: isVerified)
    }
  }

  /// Remembers a far side; what cannot be written is no reason to end a call.
  func remember(_ address: String, _ fingerprint: Fingerprint?) async {
    guard let store else { return }
    // The next call meets it for the first time again.
    try? await Self.perform {
      try store.remember(peerAt: address, fingerprint: fingerprint?.description, at: Date())
    }
  }

  /// Notes that the user has compared the words with a far side.
  ///
  /// Throws if that cannot be written.
  func verify(_ fingerprint: Fingerprint) async throws {
    guard let store else { return }
    let isKnown = try await Self.perform {
      try store.setVerified(fingerprint.description, at: Date())
    }
    guard isKnown else { throw PhoneError("this far side is not remembered yet") }
  }

  private static func perform<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}
