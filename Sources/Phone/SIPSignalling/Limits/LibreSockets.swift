package import CLibre
import Glibc

// libre has no settings for the queues of its sockets, and does not hand out those that it listens
// with. These functions have the names of its own, as in LibreGuard.swift.

/// Minimum length of the queue of connections that wait to be accepted.
///
/// A flood of strangers fills libre's 5 in milliseconds, and a known caller's connection would be
/// lost.
private let longestQueue: CInt = 512

/// Receive buffer of a UDP socket in bytes, for datagrams that arrive while the event loop is busy;
/// the kernel may grant less.
private let datagramRoom: CInt = 1 << 20

private typealias Listener = @convention(c) (OpaquePointer?, CInt) -> CInt

/// Replaces libre's function, which libre calls for each TCP port: lets 512 connections wait to be
/// accepted.
@c(tcp_sock_listen)
package func listenForConnections(_ socket: OpaquePointer?, _ queue: CInt) -> CInt {
  guard let next = unsafe original("tcp_sock_listen") else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let listen = unsafe unsafeBitCast(next, to: Listener.self)
  return unsafe listen(socket, max(queue, longestQueue))
}

private typealias DatagramListener =
  @convention(c) (
    UnsafeMutablePointer<OpaquePointer?>?,
    UnsafePointer<sa>?,
    (
      @convention(c) (
        UnsafePointer<sa>?, UnsafeMutablePointer<mbuf>?, UnsafeMutableRawPointer?
      ) -> Void
    )?,
    UnsafeMutableRawPointer?
  ) -> CInt

/// Replaces libre's function, which libre calls for each UDP port: sets the size of the port's
/// receive buffer.
@c(udp_listen)
package func listenForDatagrams(
  _ place: UnsafeMutablePointer<OpaquePointer?>?,
  _ address: UnsafePointer<sa>?,
  _ received: (
    @convention(c) (
      UnsafePointer<sa>?, UnsafeMutablePointer<mbuf>?, UnsafeMutableRawPointer?
    ) -> Void
  )?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let next = unsafe original("udp_listen"), let place = unsafe place else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let listen = unsafe unsafeBitCast(next, to: DatagramListener.self)
  let code = unsafe listen(place, address, received, context)
  var room = datagramRoom
  if code == 0 {
    _ = unsafe udp_setsockopt(place.pointee, SOL_SOCKET, SO_RCVBUF, &room, 4)
  }
  return code
}

private typealias Connector =
  @convention(c) (
    UnsafeMutablePointer<OpaquePointer?>?, UnsafePointer<sa>?, UnsafeMutableRawPointer?,
    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
  ) -> CInt

/// Replaces libre's function, which libre calls for each TCP connection that it opens: disables
/// Nagle's algorithm, and limits the pauses between retransmissions.
@c(tcp_connect)
package func openConnection(
  _ place: UnsafeMutablePointer<OpaquePointer?>?,
  _ address: UnsafePointer<sa>?,
  _ established: UnsafeMutableRawPointer?,
  _ received: UnsafeMutableRawPointer?,
  _ closed: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let next = unsafe original("tcp_connect"), let place = unsafe place else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let connect = unsafe unsafeBitCast(next, to: Connector.self)
  let code = unsafe connect(place, address, established, received, closed, context)
  if code == 0 { re_hasten(unsafe tcp_conn_fd(place.pointee)) }
  return code
}
