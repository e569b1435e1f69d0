import Foundation
import Glibc
import Testing

@testable import UDPTransport

struct ReachabilityProbeTests {
  /// A TCP socket that is bound on this machine.
  private struct BoundSocket: ~Copyable {
    let descriptor: CInt
    let name: sockaddr_in
    let address: SocketAddress

    init() throws {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
      var name = sockaddr_in()
      name.sin_family = sa_family_t(AF_INET)
      name.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe withUnsafeMutablePointer(to: &name) { name in
        unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
          _ = unsafe bind(descriptor, name, size)
          _ = unsafe getsockname(descriptor, name, &size)
        }
      }
      self.descriptor = descriptor
      self.name = name
      let port = UInt16(bigEndian: name.sin_port)
      address = try #require(SocketAddress(host: "127.0.0.1", port: port))
    }

    deinit { close(descriptor) }
  }

  /// A port that answers no SYN, as one whose packets are lost: its queue is full.
  private final class DeafPort: Sendable {
    let address: SocketAddress
    private let listener: BoundSocket
    private let fillers: [CInt]

    init() throws {
      listener = try BoundSocket()
      address = listener.address
      try #require(listen(listener.descriptor, 0) == 0)
      var name = listener.name
      let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
      // The queue has room for one more than it was asked for.
      fillers = (0..<2).map { _ in
        let filler = socket(AF_INET, kind, 0)
        unsafe withUnsafePointer(to: &name) { name in
          _ = unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
            unsafe connect(filler, name, socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
        return filler
      }
    }

    /// The number of connections that wait for an answer of the port.
    func unanswered() throws -> Int {
      let sockets = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
      let port = String(format: ":%04X 02 ", address.port)
      return sockets.split(separator: "\n").count { $0.contains(port) }
    }

    /// Takes all that waits, so that the next SYN is answered.
    func listenAgain() {
      _ = fcntl(listener.descriptor, F_SETFL, O_NONBLOCK)
      while accept(listener.descriptor, nil, nil) >= 0 {}
    }

    deinit { for filler in fillers { close(filler) } }
  }

  @Test(.timeLimit(.minutes(10))) func lostAttemptIsJoinedByOthers() async throws {
    let port = try DeafPort()
    let before = try port.unanswered()
    let address = port.address
    let (answers, answer) = AsyncStream<Bool>.makeStream()
    // Threads of their own: those that tests share may rest until the kernel has given up.
    Thread.detachNewThread {
      answer.yield(ReachabilityProbe.isConnectable(address, milliseconds: 3_600_000))
    }
    let (attempts, attempt) = AsyncThrowingStream<Void, any Error>.makeStream()
    Thread.detachNewThread {
      do {
        // The kernel repeats the first one by itself, but makes no second.
        while try port.unanswered() < before + 2 { sched_yield() }
        port.listenAgain()
        attempt.finish()
      } catch {
        attempt.finish(throwing: error)
      }
    }
    for try await _ in attempts {}
    var iterator = answers.makeAsyncIterator()
    #expect(await iterator.next() == true)
  }

  @Test func closedPortIsRefusedAtOnce() throws {
    // Bound, the port is no other program's; it does not listen.
    let closed = try BoundSocket()
    #expect(!ReachabilityProbe.isConnectable(closed.address, milliseconds: 3_600_000))
  }
}
