import CLinux
import Glibc

/// What a handshake needs of the socket before the voice thread has it.
extension MediaSocket {
  /// A datagram that was received.
  package struct Datagram: Equatable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]
    /// Where it came from.
    package let source: SocketAddress

    /// A datagram with the given bytes.
    package init(bytes: [UInt8], source: SocketAddress) {
      self.bytes = bytes
      self.source = source
    }
  }

  /// To be watched for datagrams; it stays the socket's.
  package var fileDescriptor: CInt { descriptor }

  /// The first byte of the next datagram, 0 if it is empty, nil if there is none; it stays where it
  /// is.
  package func peekFirstByte() -> UInt8? {
    var byte: UInt8 = 0
    let length = unsafe recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK))
    return length >= 0 ? byte : nil
  }

  /// The next datagram, nil if there is none.
  package func receiveDatagram() -> Datagram? {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    var source = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let received = unsafe withUnsafeMutablePointer(to: &source) { source in
      unsafe source.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe recvfrom(
          descriptor,
          &bytes,
          bytes.count,
          CInt(MSG_DONTWAIT),
          name,
          &length
        )
      }
    }
    guard received >= 0, let address = SocketAddress(AddressStorage(raw: source)) else {
      return nil
    }
    return Datagram(bytes: Array(bytes[..<received]), source: address)
  }

  /// Sends a datagram to an address; a full socket buffer drops it.
  package func send(_ bytes: [UInt8], to address: SocketAddress) {
    var storage = address.storage.raw
    let length = address.storage.length
    // An error of an earlier datagram is reported instead of sending: send again.
    for _ in 0..<2 {
      let sent = unsafe withUnsafeMutablePointer(to: &storage) { storage in
        unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
          unsafe sendto(
            descriptor,
            bytes,
            bytes.count,
            CInt(MSG_DONTWAIT),
            name,
            length
          )
        }
      }
      if sent >= 0 { return }
    }
  }
}
