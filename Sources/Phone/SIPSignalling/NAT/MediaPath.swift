import CLibre
import CallSecurity
import Glibc
package import ICE
import MediaCore
import RealTime
public import UDPTransport

/// The path that a call's voice takes, selected by connectivity checks.
public struct MediaRoute: Equatable, Sendable {
  /// The kind of path between the two machines.
  public enum Kind: String, Equatable, Sendable {
    /// Nothing on the path translates addresses.
    case direct
    /// A router on the path translates addresses.
    case translated
    /// A TURN server relays the voice.
    case relayed
  }

  /// The address that the voice thread sends to and receives from; with this side's relay, a port
  /// of the relay's client on this machine.
  package let destination: SocketAddress
  /// The far side's address.
  public let farSide: SocketAddress
  /// The kind of path between the two machines.
  public let kind: Kind
  /// True if this machine has changed addresses or lost its path since the call began, so that the
  /// source of its packets may have changed.
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

/// Identifies a path of one user agent.
public struct MediaPathID: Hashable, Sendable {
  let rawValue: Int
}

/// A path, and the ICE candidates and credentials for its description.
public struct PathOffer: Equatable, Sendable {
  package let id: MediaPathID
  package let description: ICEDescription
}

/// The path of one call's voice: performs what `ICEAgent` decides.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the agent owns it; libre holds unretained pointers to it, which `close` takes back.
@safe
final class MediaPath {
  enum Report {
    case gathered
    case routed(MediaRoute)
    case failed(String)
    /// The far side has not answered over the selected path for 30 s.
    case lost
    /// This side has closed the path.
    case closed
    /// Something that the user may want to know, and that does not end the call.
    case remark(String)
  }

  /// The arguments of a request for a relayed address.
  struct RelayRequest {
    let server: RelayServer
    /// Numeric host of the server; nil if its name could not be resolved.
    let numericHost: String?
    /// The call's RTP port, at an address by which this machine reaches itself.
    let voicePort: SocketAddress
    /// The certificate for servers that ask for one; required for TLS.
    let identity: Identity?
  }

  private var agent: ICEAgent
  private let port: CheckPort
  private let relayRequest: RelayRequest?
  private var relay: RelayClient?
  /// Number of the current relay, by which reports of former ones are recognized and ignored.
  private var relayCount = 0
  /// The relay before the last restart, over which voice flows until both sides have another path;
  /// at most one.
  private var formerRelay: RelayClient?
  private let isBoundToHost: Bool
  private var hosts: [String] = []
  private var hasMoved = false
  private var hadWay = false
  /// True while the path is lost and no other one is being looked for.
  private(set) var isLost = false
  private let timer = LoopTimer()
  private let restartTimer = LoopTimer()
  private var isClosed = false
  /// Called with each report, on the event loop's thread.
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

  /// This side's ICE candidates and credentials, for the far side.
  var description: ICEDescription { agent.description }
  private var pointer: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  @unsafe
  private static func from(_ pointer: UnsafeMutableRawPointer?) -> MediaPath? {
    unsafe pointer.map { unsafe Unmanaged<MediaPath>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Begins to collect candidates.
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

  /// Collects candidates anew at other addresses of this machine; the voice keeps its path until
  /// there is another one.
  func restart(at hosts: [String]) {
    // A port that is bound to an address is not at another one.
    self.hosts = isBoundToHost ? Array(hosts.prefix(1)) : hosts
    hasMoved = true
    restart()
  }

  /// Collects candidates anew if the path is lost, as it is after a long outage of the network.
  func restartIfLost() {
    guard isLost, !isClosed else { return }
    // Both sides may be behind routers that have forgotten them.
    hasMoved = true
    restart()
  }

  /// Collects candidates anew after a pause, if the path is lost now and still is then.
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

  /// Ends all checks, and releases the relayed address.
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

  /// Begins to check paths to the candidates in the far side's description.
  ///
  /// To be called before this side's answer is written, which has new credentials if the far side's
  /// offer is an ICE restart.
  func begin(with description: ICEDescription, isOffer: Bool) {
    if agent.isRestart(description) {
      isLost = false
      if isOffer { agent.restart(with: .random()) }
    }
    handle(.described(description))
  }

  /// Limits the time for checks, since the call is established.
  func confirm() { handle(.confirmed) }

  /// Stops all checks, since the far side goes on without them.
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
  /// Returns new credentials that cannot be guessed.
  static func random() -> ICECredentials {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }
}
