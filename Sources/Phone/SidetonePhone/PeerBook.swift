import CallSecurity
import CallStore
import Dispatch
import Foundation
import UDPTransport

/// The far sides that a phone remembers.
///
/// **Thread safety:** a value; the file is read and written on a queue that may block.
struct PeerBook: Sendable {
  private let store: CallStore?
  private static let queue = DispatchQueue(label: "sidetone.peers")
  /// Queue for writing hosts, so that a call's setup does not wait for these writes.
  private static let hostQueue = DispatchQueue(label: "sidetone.hosts")

  /// Creates a book of the peers in a store; nil remembers none.
  init(_ store: CallStore?) {
    self.store = store
  }

  /// Opens the user's own book.
  static func ofUser() async throws -> PeerBook {
    try await perform { PeerBook(try CallStore(in: CallStore.defaultFolder)) }
  }

  /// Returns the record of the far side at an address; nil if it was never encrypted.
  ///
  /// Throws if the store cannot be read.
  func record(of address: String) async throws -> PeerRecord? {
    guard let store, let peer = try await Self.perform({ try store.knownPeer(at: address) }) else {
      return nil
    }
    func fingerprint(_ text: String) throws -> Fingerprint {
      guard let fingerprint = Fingerprint(text) else {
        throw PhoneError.damagedPeer(address)
      }
      return fingerprint
    }
    return PeerRecord(
      identity: try peer.fingerprint.map(fingerprint),
      isVerified: peer.isVerified,
      signalling: try peer.signalling.map {
        $0.isEmpty ? .authority : .certificate(try fingerprint($0))
      }
    )
  }

  /// Remembers a far side without waiting for the store; errors are ignored.
  func remember(_ record: PeerRecord, at address: String) {
    guard let store else { return }
    let signalling =
      switch record.signalling {
      case nil: String?.none
      case .authority: ""
      case .certificate(let fingerprint): fingerprint.description
      }
    let peer = KnownPeer(fingerprint: record.identity?.description, signalling: signalling)
    // The next call meets it for the first time again.
    Self.queue.async { try? store.remember(peer, at: address, on: Date()) }
  }

  /// Notes that the user has compared the words with a far side.
  ///
  /// Throws if that cannot be written, or if the far side is not remembered.
  func verify(_ fingerprint: Fingerprint, at address: String) async throws {
    guard let store else { return }
    let isKnown = try await Self.perform {
      try store.setVerified(fingerprint.description, address: address, on: Date())
    }
    guard isKnown else { throw PhoneError.unknownPeer }
  }

  /// Returns the networks of the hosts with which there were calls, those of the oldest calls
  /// first; empty if they cannot be read.
  func hosts() async -> [String] {
    guard let store else { return [] }
    // Without them every caller is a stranger, and calls work all the same.
    return (try? await Self.perform { try store.knownHosts() }) ?? []
  }

  /// Notes a call with a host, without waiting for the store; errors are ignored.
  func noteCall(with host: String) {
    guard let store else { return }
    // After the next start it is a stranger again.
    let network = SocketAddress.network(of: host)
    Self.hostQueue.async { try? store.noteHost(network, on: Date()) }
  }

  private static func perform<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }
}
