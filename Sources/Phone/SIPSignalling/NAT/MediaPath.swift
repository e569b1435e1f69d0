import CLibre
import CallSecurity
import Glibc
package import ICE
import MediaCore
import RealTime
public import UDPTransport

/// Where the voice of a call goes, once checks have shown which way is open.
public struct MediaRoute: Equatable, Sendable {
  /// How the two machines reach each other.
  public enum Kind: String, Equatable, Sendable {
    /// Without anything in between that changes addresses.
    case direct
    /// Through a router that does.
    case translated
    /// By a server that passes on.
    case relayed
  }

  /// Where the voice thread sends to and receives from.
  package let destination: SocketAddress
  /// The far side's address.
  public let farSide: SocketAddress
  /// How the two reach each other.
  public let kind: Kind

  init(_ path: ICEPath, bridge: SocketAddress?) {
    farSide = path.remote
    destination = path.base == .relay ? bridge ?? path.remote : path.remote
    let kinds = [path.localKind, path.remoteKind]
    kind =
      kinds.contains(.relayed)
      ? .relayed : kinds == [.host, .host] ? .direct : .translated
  }
}

/// Names a path of one user agent.
public struct MediaPathID: Hashable, Sendable {
  let rawValue: Int
}

/// A path and what to say about it in a description.
public struct PathOffer: Equatable, Sendable {
  package let id: MediaPathID
  package let description: ICEDescription
}

/// The way of one call's voice: `ICEAgent` decides, and this sends what it orders.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the agent owns it; libre holds unretained pointers to it, which `close` takes back.
@safe
final class MediaPath {
  enum Report {
    case gathered
    case routed(MediaRoute)
    case failed(String)
    /// Something that the user may want to know, and that does not end the call.
    case remark(String)
  }

  private var agent: ICEAgent
  private let port: CheckPort
  /// What a relay is asked for with.
  struct RelayRequest {
    let server: RelayServer
    /// Nil if the server's name is not known.
    let numericHost: String?
    /// The call's own port, at an address that this machine reaches itself by.
    let voicePort: SocketAddress
    /// What to show to a server that wants to know.
    let identity: Identity?
  }

  private let relayRequest: RelayRequest?
  private var relay: RelayClient?
  private let timer: UnsafeMutablePointer<tmr>?
  private var isClosed = false
  /// What becomes of it.
  var report: (Report) -> Void = { _ in }

  init(_ agent: ICEAgent, over port: CheckPort, relay: RelayRequest?) {
    self.agent = agent
    self.port = port
    relayRequest = relay
    unsafe timer = re_timer_alloc()
  }

  deinit {
    close()
    _ = unsafe mem_deref(UnsafeMutableRawPointer(timer))
  }

  /// What to say to the far side.
  var description: ICEDescription { agent.description }
  /// The way that was found, nil before.
  var route: MediaRoute? { agent.path.map { MediaRoute($0, bridge: relay?.bridge) } }

  private var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  @unsafe
  private static func from(_ pointer: UnsafeMutableRawPointer?) -> MediaPath? {
    unsafe pointer.map { unsafe Unmanaged<MediaPath>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Begins to collect addresses.
  func start() {
    _ = unsafe fd_listen(
      port.fileDescriptor,
      CInt(FD_READ),
      { _, pointer in unsafe MediaPath.from(pointer)?.receive() },
      pointer
    )
    handle(.started)
    openRelay()
  }

  /// Collects addresses anew, since the machine has moved; the voice keeps its way until there is
  /// another one.
  func restart(at hosts: [String]) {
    let addresses = hosts.compactMap { SocketAddress(host: $0, port: port.localPort) }
    relay?.close()
    relay = nil
    handle(.restarted(hosts: addresses, .random()))
    openRelay()
  }

  private func openRelay() {
    guard let request = relayRequest else { return }
    guard let numericHost = request.numericHost else {
      report(.remark("the relay \(request.server) is of no use: its name is not known"))
      return handle(.relayFailed)
    }
    let relay = RelayClient(request.server, voicePort: request.voicePort) { [weak self] in
      self?.note($0)
    }
    self.relay = relay
    relay.open(at: numericHost, identity: request.identity)
  }

  /// Ends all checks, and gives the relay's address back.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    unsafe tmr_cancel(timer)
    fd_close(port.fileDescriptor)
    relay?.close()
    relay = nil
  }

  /// Looks for a way to where the far side's description says that it is.
  ///
  /// Called before this side's answer is written: it has other credentials if the far side has
  /// begun anew.
  func begin(with description: ICEDescription) {
    if agent.isRestart(description) { agent.restart(with: .random()) }
    handle(.described(description))
  }

  // MARK: Events

  private func handle(_ event: ICEAgent.Event) {
    guard !isClosed else { return }
    for effect in agent.handle(event, at: MonotonicClock.now()) { perform(effect) }
    schedule()
  }

  private func schedule() {
    guard !isClosed, let deadline = agent.deadline else { return unsafe tmr_cancel(timer) }
    let pause = max(0, deadline.nanoseconds(since: MonotonicClock.now()))
    unsafe tmr_start(
      timer,
      UInt64(pause / 1_000_000 + 1),
      { unsafe MediaPath.from($0)?.handle(.timePassed) },
      pointer
    )
  }

  private func perform(_ effect: ICEAgent.Effect) {
    switch effect {
    case .send(let message, let password, let destination, let base):
      guard let buffer = unsafe message.encode(signedWith: password) else { return }
      defer { _ = unsafe mem_deref(buffer) }
      if base == .relay { return unsafe relay?.send(buffer, to: destination) ?? () }
      let bytes = unsafe UnsafeBufferPointer(
        start: mbuf_buf(buffer),
        count: mbuf_get_left(buffer)
      )
      port.send(unsafe Array(bytes), to: destination)
    case .gathered:
      report(.gathered)
    case .selected(let path):
      relay?.farSide = path.base == .relay ? path.remote : nil
      report(.routed(MediaRoute(path, bridge: relay?.bridge)))
    case .failed:
      report(.failed("no way to the far side is open: neither directly nor by a relay"))
    case .consentExpired:
      report(.failed("the far side has not answered for 30 s"))
    }
  }

  private func note(_ event: RelayClient.Event) {
    switch event {
    case .allocated(let address):
      handle(.relayed(address))
    case .failed(let reason):
      handle(.relayFailed)
      report(.remark(reason))
    case .received(let bytes, let peer):
      take(bytes, from: peer, at: .relay)
    }
  }

  private func receive() {
    while !isClosed, let datagram = port.receive() {
      take(datagram.bytes, from: datagram.source, at: .socket)
    }
  }

  private func take(_ bytes: [UInt8], from source: SocketAddress, at base: ICEOutlet) {
    let message = BindingMessage(bytes, own: agent.localPassword, other: agent.remotePassword)
    if let message { handle(.received(message, from: source, at: base)) }
  }
}

extension ICECredentials {
  /// New ones that cannot be guessed.
  static func random() -> ICECredentials {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }
}
