package import Glibc

/// An IPv4 or IPv6 address and a port.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
  /// The address in text, for example "192.168.1.20" or "fe80::1".
  package let host: String
  /// The port, 0 for one that the system chooses.
  package let port: UInt16

  package let storage: AddressStorage

  /// True for an IPv6 address, false for IPv4.
  package var isIPv6: Bool { host.contains(":") }

  /// True for a port other than 0 at the address of a single host: no multicast group, limited
  /// broadcast or unspecified address.
  ///
  /// Broadcast addresses of subnets are not recognised.
  package var isUnicast: Bool { port > 0 && storage.isUnicast }

  /// The network that counts as one host: an IPv4 address itself, or the /64 of an IPv6 address,
  /// which belongs to one customer (RFC 6177).
  package static func network(of host: String) -> String {
    guard let address = SocketAddress(host: host, port: 0), address.isIPv6 else { return host }
    return address.storage.network
  }

  /// The address of a numeric `host`; nil if that is not an IPv4 or IPv6 address.
  public init?(host: String, port: UInt16) {
    guard let storage = AddressStorage(host: host, port: port) else { return nil }
    // Of the several ways to write an IPv6 address the one of RFC 5952, so that texts can be
    // compared.
    self.host = storage.host ?? host
    self.port = port
    self.storage = storage
  }

  /// The address in a structure of the system calls; nil if it is not of IPv4 or IPv6.
  package init?(_ storage: AddressStorage) {
    guard let host = storage.host else { return nil }
    self.host = host
    port = storage.port
    self.storage = storage
  }

  /// Returns a host as it is written in URIs: an IPv6 address in brackets (RFC 3986 section 3.2.2).
  package static func literal(_ host: String) -> String {
    host.contains(":") ? "[\(host)]" : host
  }

  /// The address and port as a URI has them.
  public var description: String { "\(Self.literal(host)):\(port)" }

  /// True if the texts and ports of both addresses are equal.
  public static func == (lhs: SocketAddress, rhs: SocketAddress) -> Bool {
    lhs.host == rhs.host && lhs.port == rhs.port
  }

  /// Hashes the text and port.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(host)
    hasher.combine(port)
  }
}

/// A `sockaddr_storage`, as the system calls take it.
@safe
package struct AddressStorage: BitwiseCopyable, Sendable {
  package var raw: sockaddr_storage

  package init(raw: sockaddr_storage) {
    self.raw = raw
  }

  package init?(host: String, port: UInt16) {
    raw = sockaddr_storage()
    var ipv4 = in_addr()
    if unsafe inet_pton(AF_INET, host, &ipv4) == 1 {
      unsafe withUnsafeMutablePointer(to: &raw) { raw in
        unsafe raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          unsafe address.pointee.sin_family = sa_family_t(AF_INET)
          unsafe address.pointee.sin_port = port.bigEndian
          unsafe address.pointee.sin_addr = ipv4
        }
      }
      return
    }
    var ipv6 = in6_addr()
    guard unsafe inet_pton(AF_INET6, host, &ipv6) == 1 else { return nil }
    unsafe withUnsafeMutablePointer(to: &raw) { raw in
      unsafe raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
        unsafe address.pointee.sin6_family = sa_family_t(AF_INET6)
        unsafe address.pointee.sin6_port = port.bigEndian
        unsafe address.pointee.sin6_addr = ipv6
      }
    }
  }

  /// The first 64 bits of an IPv6 address, in text.
  package var network: String {
    var copy = raw
    return unsafe withUnsafeBytes(of: &copy) { bytes in
      unsafe bytes[8..<16].map { String($0, radix: 16) }.joined(separator: ":") + "/64"
    }
  }

  /// True for an address of one host.
  ///
  /// False for 0.0.0.0/8 and from 224.0.0.0 on (groups, reserved addresses, 255.255.255.255), for
  /// IPv6 addresses that embed one of these, and for IPv6 groups.
  package var isUnicast: Bool {
    var copy = raw
    return unsafe withUnsafeBytes(of: &copy) { bytes in
      func isUnicast(_ first: UInt8) -> Bool { first > 0 && first < 224 }
      guard CInt(raw.ss_family) == AF_INET6 else { return unsafe isUnicast(bytes[4]) }
      let address = unsafe Array(bytes[8..<24])
      if address[0] == 0xff { return false }
      guard address[..<10].allSatisfy({ $0 == 0 }) else { return true }
      // ::ffff:a.b.c.d, and the older ::a.b.c.d, of which ::1 is the loopback address.
      if address[10] == 0xff, address[11] == 0xff { return isUnicast(address[12]) }
      return address[10..<15].allSatisfy { $0 == 0 } ? address[15] == 1 : isUnicast(address[12])
    }
  }

  package var length: socklen_t {
    raw.ss_family == sa_family_t(AF_INET6)
      ? socklen_t(MemoryLayout<sockaddr_in6>.size) : socklen_t(MemoryLayout<sockaddr_in>.size)
  }

  /// The numeric address; nil if it is of another family.
  package var host: String? {
    var copy = raw
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isKnown = unsafe withUnsafePointer(to: &copy) { raw in
      switch CInt(unsafe raw.pointee.ss_family) {
      case AF_INET:
        unsafe raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
          var host = unsafe address.pointee.sin_addr
          return unsafe inet_ntop(AF_INET, &host, &text, socklen_t(text.count)) != nil
        }
      case AF_INET6:
        unsafe raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
          var host = unsafe address.pointee.sin6_addr
          return unsafe inet_ntop(AF_INET6, &host, &text, socklen_t(text.count)) != nil
        }
      default:
        false
      }
    }
    guard isKnown else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package var port: UInt16 {
    // The port lies at the same place in both families.
    var copy = raw
    return unsafe withUnsafeBytes(of: &copy) { bytes in
      unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
  }
}
