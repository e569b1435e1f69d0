import CLinux
import Glibc
package import MediaCore

/// Access to the socket for a handshake, before the voice thread owns it.
extension MediaSocket {
  /// A datagram that was received.
  package struct Datagram: Equatable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]
    /// The address that it was sent from.
    package let source: SocketAddress

    /// A datagram with the given bytes.
    package init(bytes: [UInt8], source: SocketAddress) {
      self.bytes = bytes
      self.source = source
    }
  }

  /// The descriptor to watch for datagrams; the socket closes it.
  package var fileDescriptor: CInt { descriptor }

  /// The first byte of the next datagram, which is left in the queue; 0 if the datagram is empty,
  /// nil if there is none.
  package func peekFirstByte() -> UInt8? {
    var byte: UInt8 = 0
    let length = unsafe recv(descriptor, &byte, 1, CInt(MSG_DONTWAIT) | CInt(MSG_PEEK))
    return length >= 0 ? byte : nil
  }

  /// The next datagram; nil if there is none.
  ///
  /// A connectivity check is passed on to the `CheckPort`, and nil is returned though more
  /// datagrams may be there.
  package func receiveDatagram() -> Datagram? {
    var bytes = [UInt8](repeating: 0, count: 2_048)
    var arrival = realtime_arrival()
    let length = unsafe realtime_receive(descriptor, &bytes, bytes.count, &arrival)
    guard length >= 0 else { return nil }
    if checks >= 0, length > 0, Self.isCheck(firstByte: bytes[0]) {
      unsafe realtime_hand_over(checks, &arrival.source, bytes, length)
      return nil
    }
    guard let source = SocketAddress(AddressStorage(raw: arrival.source)) else { return nil }
    return Datagram(bytes: Array(bytes[..<length]), source: source)
  }

  /// Sends a datagram to an address; a full socket buffer drops it.
  package func send(_ bytes: [UInt8], to address: SocketAddress) {
    Self.send(bytes, to: address, by: descriptor)
  }

  /// Sends a datagram to an address that may be a stranger's: to one that is not known to be the
  /// far side's, only within the call's budget (`UnansweredLimit`).
  package func sendOnTrust(_ bytes: [UInt8], to address: SocketAddress, at now: MonotonicInstant) {
    let mark = AnsweringAddress.mark(of: address.storage)
    let host = AnsweringAddress.hostMark(of: address.storage)
    let isKnown = lentAnswering.isKnown(mark) || lentAnswering.isKnownHost(host)
    if isKnown || lentAnswering.mayTry(mark, at: now) { send(bytes, to: address) }
  }

  static func send(_ bytes: [UInt8], to address: SocketAddress, by descriptor: CInt) {
    var storage = address.storage.raw
    // An error of an earlier datagram is reported instead of sending: send again.
    for _ in 0..<2 {
      if unsafe realtime_send(descriptor, bytes, bytes.count, &storage) >= 0 { return }
    }
  }
}
