import CLibre
import CallSecurity
import Glibc
import Testing

@testable import SIPSignalling

/// One of libre's running timers.
///
/// **Thread safety:** the event loop's thread only.
@safe
private struct RunningTimer {
  private let timer: UnsafeMutablePointer<tmr>

  /// All running timers, in the order in which they are due.
  static var all: [RunningTimer] {
    // libre does not tell where its list is, but each timer in it does.
    guard let own = unsafe re_timer_alloc() else { return [] }
    unsafe tmr_start(own, 1_000, { _ in }, nil)
    defer {
      unsafe tmr_cancel(own)
      _ = unsafe mem_deref(UnsafeMutableRawPointer(own))
    }
    var found: [RunningTimer] = []
    var entry = unsafe list_head(own.pointee.le.list)
    while let place = unsafe entry {
      if let data = unsafe place.pointee.data, unsafe data != UnsafeMutableRawPointer(own) {
        found.append(unsafe RunningTimer(timer: data.assumingMemoryBound(to: tmr.self)))
      }
      unsafe entry = place.pointee.next
    }
    return found
  }

  /// Address of the function that the timer calls.
  var handler: UInt { unsafe unsafeBitCast(timer.pointee.th, to: UInt.self) }

  /// Milliseconds until the timer is due.
  var left: UInt64 { unsafe tmr_get_expire(timer) }

  /// Brings the timer forward by `milliseconds`.
  func advance(byMilliseconds milliseconds: UInt64) {
    let rest = left - min(left, milliseconds)
    unsafe tmr_start(timer, rest, timer.pointee.th, timer.pointee.arg)
  }
}

extension UserAgent {
  /// Address of the function that the timers of connections call.
  ///
  /// Nil unless one of them is due in 20 to 32 s and another in 800 to 900 s.
  fileprivate func connectionHandler() -> UInt? {
    let timers = RunningTimer.all
    let short = timers.filter { (20_000...32_000).contains($0.left) }.map(\.handler)
    let long = timers.filter { (800_000...900_000).contains($0.left) }.map(\.handler)
    return Set(short).intersection(long).first
  }

  /// Brings the timers of connections forward by `seconds`, and no others.
  fileprivate func letPass(seconds: UInt64, for handler: UInt) {
    for timer in RunningTimer.all where timer.handler == handler {
      timer.advance(byMilliseconds: seconds * 1_000)
    }
  }
}

/// Time for which connections of far sides may bring nothing.
///
/// libre measures that time; its timers are brought forward, so that no test waits.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ConnectionTimeTests {
  /// Keep-alive of a connection, and its answer (RFC 5626 section 3.5.1).
  private static let ping = "\r\n\r\n"
  private static let pong = "\r\n"

  /// An agent and two connections to it, one of which has sent a keep-alive.
  private struct Scene {
    let agent: UserAgent
    let silent: LoopbackPeer
    let talking: LoopbackPeer
    let handler: UInt

    func letPass(seconds: UInt64) async { await agent.letPass(seconds: seconds, for: handler) }
  }

  private func scene(_ transport: SIPTransport, saying text: String = "") async throws -> Scene {
    let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
    _ = try await agent.start(securing: Identity.make())
    let silent = try LoopbackPeer(at: "127.0.0.71", SOCK_STREAM)
    silent.connect(to: await agent.port(of: transport))
    if !text.isEmpty { silent.send(text) }
    let talking = try LoopbackPeer(at: "127.0.0.72", SOCK_STREAM)
    talking.connect(to: await agent.port(of: .tcp))
    talking.send(Self.ping)
    #expect(talking.receive() == Self.pong)
    let handler = try #require(await agent.connectionHandler())
    return Scene(agent: agent, silent: silent, talking: talking, handler: handler)
  }

  /// An unfinished message and a handshake that does not begin count as nothing.
  @Test(arguments: [(SIPTransport.tcp, ""), (.tcp, "OPTIONS sip:bob"), (.tls, "")])
  func connectionThatBringsNothingIsClosedAfter32Seconds(
    transport: SIPTransport,
    text: String
  ) async throws {
    let scene = try await scene(transport, saying: text)
    await scene.letPass(seconds: 20)
    #expect(scene.silent.receive(within: 50) == nil)
    await scene.letPass(seconds: 12)
    #expect(scene.silent.receive() == "")
    #expect(scene.talking.receive(within: 0) == nil)
    await scene.agent.stop()
  }

  /// Bytes after a close_notify are not stored: the connection is closed.
  @Test func connectionThatGoesOnAfterItsEndIsClosed() async throws {
    let agent = UserAgent(.init(hosts: ["127.0.0.1"], port: 0, user: "bob"))
    _ = try await agent.start(securing: Identity.make())
    let peer = try LoopbackPeer(at: "127.0.0.73", SOCK_STREAM)
    peer.connect(to: await agent.port(of: .tls))
    try Self.shakeHandsAndEnd(over: peer)
    // The answer to the last message, if there is one, and the end.
    var isClosed = false
    for _ in 0..<100 where !isClosed {
      peer.send(String(repeating: "x", count: 1_000))
      while let answer = peer.receive(within: 50), !isClosed { isClosed = answer.isEmpty }
    }
    #expect(isClosed)
    await agent.stop()
  }

  private static func shakeHandsAndEnd(over peer: LoopbackPeer) throws {
    let made = unsafe SSL_CTX_new(TLS_client_method())
    let context = unsafe try #require(made)
    defer { unsafe SSL_CTX_free(context) }
    let ssl = unsafe try #require(SSL_new(context))
    defer { unsafe SSL_free(ssl) }
    let codes = unsafe [SSL_set_fd(ssl, peer.descriptor), SSL_connect(ssl)]
    #expect(codes == [1, 1])
    #expect(unsafe SSL_shutdown(ssl) >= 0)
  }

  @Test func connectionThatBringsNoMoreIsClosedAfterAQuarterOfAnHour() async throws {
    let scene = try await scene(.tcp)
    await scene.letPass(seconds: 800)
    #expect(scene.talking.receive(within: 50) == nil)
    // Whatever comes begins the time anew.
    scene.talking.send(Self.ping)
    #expect(scene.talking.receive() == Self.pong)
    await scene.letPass(seconds: 800)
    #expect(scene.talking.receive(within: 50) == nil)
    await scene.letPass(seconds: 100)
    #expect(scene.talking.receive() == "")
    await scene.agent.stop()
  }
}
