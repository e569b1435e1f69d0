package import CallSecurity
import ICE
package import UDPTransport

/// The paths of calls' voice.
extension UserAgent {
  /// The arguments for collecting the ICE candidates of a call.
  package struct PathRequest: Sendable {
    /// The numeric address of this machine that leads to the far side.
    package let host: String
    /// True if the call's port is bound to that address.
    package let isBoundToHost: Bool
    /// True for the side that makes the offer.
    package let isOffering: Bool
    /// The account whose STUN and TURN servers are used; nil for none.
    package let account: SIPAccount?
    /// The certificate for relays that ask for one; required for TLS.
    package let identity: Identity?

    /// A request with the given fields.
    package init(
      host: String,
      isBoundToHost: Bool,
      isOffering: Bool,
      account: SIPAccount?,
      identity: Identity?
    ) {
      self.host = host
      self.isBoundToHost = isBoundToHost
      self.isOffering = isOffering
      self.account = account
      self.identity = identity
    }
  }

  /// Collects the ICE candidates of a call (RFC 8445 section 5.1): the addresses at which its voice
  /// may arrive.
  ///
  /// This takes as long as name servers and the account's servers need to answer, two seconds each
  /// at most. Returns nil if the agent has stopped. The caller closes the path by `closePath`.
  package func openPath(_ port: CheckPort, _ request: PathRequest) async -> PathOffer? {
    let found = request.isBoundToHost ? [request.host] : pathHosts(request.host)
    let hosts = found.compactMap { SocketAddress(host: $0, port: port.localPort) }
    let isIPv6 = request.host.contains(":")
    async let server = Self.resolve(request.account?.stunServer, port: 3_478, isIPv6)
    let relay = request.account?.relay
    async let relayHost = Self.resolve(relay?.host, port: 0, isIPv6)
    let relayAddress = await relayHost
    let servers = await server.map { [$0] } ?? []
    guard isRunning else { return nil }
    let agent = ICEAgent(
      request.isOffering ? .controlling : .controlled,
      hosts: hosts,
      credentials: .random(),
      tiebreaker: .random(in: 0...UInt64.max),
      servers: servers,
      hasRelay: relay != nil,
      randomness: SystemRandomNumberGenerator()
    )
    let loopback = isIPv6 ? "::1" : "127.0.0.1"
    let voicePort = SocketAddress(
      host: request.isBoundToHost ? request.host : loopback,
      port: port.localPort
    )
    guard let voicePort else { return nil }
    let relayRequest = relay.map {
      MediaPath.RelayRequest(
        server: $0,
        numericHost: relayAddress?.host,
        voicePort: voicePort,
        identity: request.identity
      )
    }
    let path = MediaPath(
      agent,
      over: port,
      at: found,
      isBoundToHost: request.isBoundToHost,
      relay: relayRequest
    )
    let id = add(path)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      // It is resumed once: a path that is closed before says so as well.
      var waiting: CheckedContinuation<Void, Never>? = continuation
      path.report = { [weak self] report in
        switch report {
        case .gathered, .failed, .lost, .routed, .closed:
          waiting?.resume()
          waiting = nil
        case .remark(let remark):
          self?.assumeIsolated { $0.report(.pathRemark(remark)) }
        }
      }
      path.start()
    }
    return paths[id] != nil ? PathOffer(id: id, description: path.description) : nil
  }

  private func add(_ path: MediaPath) -> MediaPathID {
    let id = MediaPathID(rawValue: nextPath)
    nextPath += 1
    paths[id] = path
    return id
  }

  /// Closes a path that `openPath` has opened; does nothing if it is closed.
  package func closePath(_ id: MediaPathID) {
    paths.removeValue(forKey: id)?.close()
  }

  func closePaths() {
    let all = paths.values
    paths = [:]
    for path in all { path.close() }
  }

  /// Returns the path that an offer names, and lets it report to a call from now on.
  func path(of offer: MediaOffer, for call: SIPCallID) -> MediaPath? {
    guard let id = offer.path?.id, let path = paths[id] else { return nil }
    path.report = { [weak self] report in self?.assumeIsolated { $0.note(report, of: call) } }
    return path
  }

  private func note(_ report: MediaPath.Report, of id: SIPCallID) {
    let call = calls[id.rawValue]
    // While this side sends nothing, signalling tells whether the far side is still there, and a
    // way that is lost is looked for once it is.
    let maySend = call?.maySend ?? true
    switch report {
    case .gathered: call?.offerAddresses()
    case .routed(let route): self.report(.routed(id, route))
    case .failed where !maySend && call?.path?.isLost == true: break
    case .failed(let reason): self.report(.unroutable(id, reason))
    case .lost where !maySend: break
    case .lost: self.report(.unroutable(id, "the far side has not answered for 30 s"))
    case .closed: break
    case .remark(let remark): self.report(.pathRemark(remark))
    }
  }

  /// Returns the addresses of this machine at which media may arrive, at most eight, `host` first.
  func pathHosts(_ host: String) -> [String] {
    let isLoopback = host.hasPrefix("127.") || host == "::1"
    guard !isLoopback else { return [host] }
    let isIPv6 = host.contains(":")
    let others = Self.localHosts().filter {
      $0 != host && $0.contains(":") == isIPv6 && !$0.hasPrefix("127.") && $0 != "::1"
        && !$0.lowercased().hasPrefix("fe80:")
    }
    return [host] + others.prefix(7)
  }

  /// Time for name servers to answer.
  private static let resolvingPatience = Duration.seconds(2)

  private static func resolve(
    _ server: String?,
    port: UInt16,
    _ isIPv6: Bool
  ) async -> SocketAddress? {
    // An IPv6 address may stand without brackets.
    guard let server,
      let parsed = SIPAddress("sip:\(server)")
        ?? SIPAddress("sip:\(SocketAddress.literal(server))")
    else { return nil }
    let port = parsed.givenPort ?? port
    if let numeric = SocketAddress(host: parsed.host, port: port) {
      return numeric.isIPv6 == isIPv6 ? numeric : nil
    }
    let found = await HostName.addresses(of: parsed.host, within: resolvingPatience)
    return found.first { $0.contains(":") == isIPv6 }.flatMap {
      SocketAddress(host: $0, port: port)
    }
  }
}
