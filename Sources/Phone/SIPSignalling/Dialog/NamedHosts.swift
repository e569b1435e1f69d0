import CLibre
import Synchronization
import UDPTransport

/// Numeric addresses for host names in far sides' Contacts, found by the machine's own resolver.
///
/// libre asks name servers alone, which do not know the names of the hosts file and of the local
/// network (`.local`). A name counts only if one of its addresses is the source of the message that
/// has it; all others are left to libre (RFC 3263).
enum NamedHosts {
  private static let addresses = Mutex<[String: String]>([:])
  /// Maximum number of names that are remembered.
  private static let capacity = 64

  /// Returns the address for a host name; nil if it is left to name servers.
  static func address(of name: String) -> String? {
    addresses.withLock { $0[name.lowercased()] }
  }

  /// Looks up a host name, in the background, that a message from `source` has.
  static func lookUp(_ name: String, from source: String) {
    guard !name.isEmpty, SocketAddress(host: name, port: 0) == nil, address(of: name) != source
    else { return }
    Task {
      guard await HostName.addresses(of: name).contains(source) else { return }
      addresses.withLock { known in
        if known.count >= capacity { known = [:] }
        known[name.lowercased()] = source
      }
    }
  }

  /// Looks up the host name in a message's Contact.
  @unsafe
  static func lookUp(contactOf message: UnsafePointer<sip_msg>) {
    let name = unsafe String(re_contact_host(message))
    unsafe lookUp(name, from: UserAgent.host(of: message))
  }
}
