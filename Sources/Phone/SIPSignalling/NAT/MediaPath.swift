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
  /// True if this machine has moved since the call began: what it sends has to go elsewhere too.
  package let isAfterMove: Bool

  init(_ path: ICEPath, bridge: SocketAddress?, isAfterMove: Bool) {
    self.isAfterMove = isAfterMove
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
    /// There was a way, and the far side has not answered by it for 30 s.
    case lost
    /// It was ended by this side.
    case closed
    /// Something that the user may want to know, and that does not end the call.
    case remark(String)
  }

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

  private var agent: ICEAgent
  private let port: CheckPort
  private let relayRequest: RelayRequest?
  private var relay: RelayClient?
  /// Tells what the relay of now reports from what one of before still does.
  private var relayCount = 0
  /// The relay of before a restart, by which voice goes and comes until both sides have another
  /// way; one at most.
  private var formerRelay: RelayClient?
  private let isBoundToHost: Bool
  private var hosts: [String] = []
  private var hasMoved = false
  private var hadWay = false
  /// True while the way that there was is lost, and no other one is looked for.
  private(set) var isLost = false
  private let timer = LoopTimer()
  private let restartTimer = LoopTimer()
  private var isClosed = false
  /// What becomes of it.
  var report: (Report) -> Void = { _ in }

  init(
    _ agent: ICEAgent,
    over port: CheckPort,
    at hosts: [String],
    isBoundToHost: Bool,
    relay: RelayRequest?
  ) {
    self.agent = agent
    self.hosts = hosts
    self.isBoundToHost = isBoundToHost
    self.port = port
    relayRequest = relay
  }

  deinit {
    report = { _ in }
    close()
  }

  /// What to say to the far side.
  var description: ICEDescription { agent.description }
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
    // A port that is bound to an address is not at another one.
    self.hosts = isBoundToHost ? Array(hosts.prefix(1)) : hosts
    hasMoved = true
    restart()
  }

  /// Collects addresses anew if the way was lost, as a network that is away for long takes it.
  func restartIfLost() {
    guard isLost, !isClosed else { return }
    // Both sides may be behind routers that have forgotten them.
    hasMoved = true
    restart()
  }

  /// The same a little later, if the way is still lost then.
  func restartIfLost(afterSeconds seconds: Int64) {
    guard isLost else { return }
    let time = MonotonicClock.now().advanced(byNanoseconds: seconds * 1_000_000_000)
    restartTimer.start(for: time) { [weak self] in self?.restartIfLost() }
  }

  private func restart() {
    isLost = false
    // Its end is no news from now on, also where there is no relay after it.
    relayCount += 1
    let addresses = hosts.compactMap { SocketAddress(host: $0, port: port.localPort) }
    formerRelay?.close()
    formerRelay = relay
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
    let count = relayCount
    let relay = RelayClient(request.server, voicePort: request.voicePort) { [weak self] event in
      guard let self, count == relayCount else { return }
      note(event)
    }
    self.relay = relay
    relay.open(at: numericHost, identity: request.identity)
  }

  /// Ends all checks, and gives the relay's address back.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    timer.cancel()
    restartTimer.cancel()
    fd_close(port.fileDescriptor)
    relay?.close()
    formerRelay?.close()
    (relay, formerRelay) = (nil, nil)
    report(.closed)
  }

  /// Looks for a way to where the far side's description says that it is.
  ///
  /// Called before this side's answer is written: it has other credentials if the far side's offer
  /// begins anew.
  func begin(with description: ICEDescription, isOffer: Bool) {
    if agent.isRestart(description) {
      isLost = false
      if isOffer { agent.restart(with: .random()) }
    }
    handle(.described(description))
  }

  /// Stops to look for a way: the far side goes on without checks.
  func suspend() {
    isLost = false
    handle(.suspended)
  }

  // MARK: Events

  private func handle(_ event: ICEAgent.Event) {
    guard !isClosed else { return }
    for effect in agent.handle(event, at: MonotonicClock.now()) { perform(effect) }
    schedule()
  }

  private func schedule() {
    guard !isClosed, let deadline = agent.deadline else { return timer.cancel() }
    timer.start(for: deadline) { [weak self] in self?.handle(.timePassed) }
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
      (hadWay, isLost) = (true, false)
      relay?.farSide = path.base == .relay ? path.remote : nil
      report(.routed(MediaRoute(path, bridge: relay?.bridge, isAfterMove: hasMoved)))
    case .failed:
      isLost = hadWay
      report(.failed("no way to the far side is open: neither directly nor by a relay"))
    case .consentExpired:
      isLost = true
      report(.lost)
    }
  }

  private func note(_ event: RelayClient.Event) {
    switch event {
    case .allocated(let address):
      handle(.relayed(address))
    case .failed(let reason):
      let isInUse = relay?.farSide != nil
      handle(.relayFailed)
      report(.remark(reason))
      // The voice goes another way, or by another address of the relay.
      if isInUse { restart() }
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
