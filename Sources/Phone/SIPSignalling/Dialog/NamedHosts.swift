import CLibre
import MediaCore
import RealTime
import Synchronization
import UDPTransport

/// Numeric addresses for host names in far sides' Contacts, found by the machine's own resolver.
///
/// libre asks name servers alone, which do not know the names of the hosts file and of the local
/// network (`.local`). A name counts only if one of its addresses is the source of the message that
/// has it; all others are left to libre (RFC 3263). If the address comes after a request has left
/// for the name, as the ACK of a 200 that comes at once, the far side repeats its response.
///
/// Look-ups are few at a time, however many are asked for.
struct NamedHosts {
  /// The names of this process, as libre has one event loop for it.
  static let shared = Mutex(NamedHosts())

  private var known: [String: (address: String, at: MonotonicInstant)] = [:]
  private var failed: [String: MonotonicInstant] = [:]
  private var pending: Set<String> = []

  private static let capacity = 64
  private static let mostPending = 8
  /// Time for which an address counts, and for which a name that has none is not looked up again,
  /// in nanoseconds.
  private static let lifetime: Int64 = 600_000_000_000
  private static let pause: Int64 = 60_000_000_000

  /// Returns the address for a host name; nil if it is left to name servers.
  ///
  /// A name that is no host of the local network may have other servers than its address
  /// (RFC 3263 section 4.2), unless the URI has a port.
  func address(of name: String, hasPort: Bool, at now: MonotonicInstant) -> String? {
    let name = name.lowercased()
    guard let (address, at) = known[name], now.nanoseconds(since: at) < Self.lifetime else {
      return nil
    }
    return hasPort || !name.contains(".") || name.hasSuffix(".local") ? address : nil
  }

  /// True if a name is to be looked up that a message from `source` has; then `note` has to follow.
  mutating func begin(_ name: String, from source: String, at now: MonotonicInstant) -> Bool {
    let name = name.lowercased()
    guard !name.isEmpty, SocketAddress(host: name, port: 0) == nil, !pending.contains(name),
      pending.count < Self.mostPending
    else { return false }
    if let (address, at) = known[name], address == source,
      now.nanoseconds(since: at) < Self.lifetime / 2
    {
      return false
    }
    if let at = failed[name], now.nanoseconds(since: at) < Self.pause { return false }
    pending.insert(name)
    return true
  }

  /// Notes the addresses that were found for a name.
  mutating func note(
    _ addresses: [String],
    of name: String,
    from source: String,
    at now: MonotonicInstant
  ) {
    let name = name.lowercased()
    pending.remove(name)
    guard addresses.contains(source) else {
      if failed.count >= Self.capacity { failed = [:] }
      failed[name] = now
      return
    }
    let oldest = known.min { $0.value.at < $1.value.at }?.key
    if known.count >= Self.capacity, known[name] == nil, let oldest { known[oldest] = nil }
    known[name] = (source, now)
  }

  /// Looks up a host name, in the background, that a message from `source` has.
  static func lookUp(_ name: String, from source: String) {
    let isNew = shared.withLock { $0.begin(name, from: source, at: MonotonicClock.now()) }
    guard isNew else { return }
    Task {
      let found = await HostName.addresses(of: name)
      shared.withLock { $0.note(found, of: name, from: source, at: MonotonicClock.now()) }
    }
  }
}

/// The Contact in a message: the URI at which its sender is reached within the call, its remote
/// target (RFC 3261 section 12.2).
struct NamedContact {
  let uri: String
  /// Host of the URI.
  let host: String
  /// Numeric address that the message came from.
  let source: String

  @unsafe
  init(of message: UnsafePointer<sip_msg>) {
    uri = unsafe String(re_contact_uri(message))
    host = unsafe String(re_contact_host(message))
    source = unsafe UserAgent.host(of: message)
  }
}

extension SIPCall {
  /// Looks up the host name in the far side's Contact, if that is a name.
  func lookUpContact() {
    if let contact { NamedHosts.lookUp(contact.host, from: contact.source) }
  }
}
