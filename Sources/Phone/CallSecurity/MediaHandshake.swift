import SRTP
package import UDPTransport

/// The handshake of a call (DTLS-SRTP, RFC 5763 and 5764), from the first datagram to the keys and
/// the words to compare.
///
/// Until the far side's description gives the expected fingerprint, anyone may begin a handshake
/// with the side that waits (RFC 5763 section 5); so it keeps several handshakes, one for each
/// source.
///
/// A far side that has a port of its own for RTCP makes a handshake from each of its two ports (RFC
/// 5764 section 4.2). The keys of the voice come from that of the RTP port. Those of the other are
/// not kept, so there is no RTCP with such a far side.
///
/// Datagrams go in with their sources and come out with their destinations; there is no I/O.
/// **Thread safety:** one thread at a time.
package struct MediaHandshake: ~Copyable {
  /// A datagram to send.
  package struct Outgoing: Equatable, Sendable {
    /// Its bytes.
    package let bytes: [UInt8]
    /// Its destination.
    package let destination: SocketAddress
  }

  /// The far side as signalling describes it.
  package struct Expectation: Equatable, Sendable {
    /// Its certificate's fingerprint.
    package let fingerprint: Fingerprint
    /// True if it exchanges words to compare.
    package let exchangesWords: Bool

    /// A far side with the given certificate.
    package init(fingerprint: Fingerprint, exchangesWords: Bool) {
      self.fingerprint = fingerprint
      self.exchangesWords = exchangesWords
    }
  }

  /// The state of a handshake.
  package enum State: Sendable {
    /// Not finished, or the far side's expected fingerprint is not known yet.
    case waiting
    /// Finished, with keys.
    case secured(SecuredMedia)
    /// There will be no keys, for the given reason.
    case failed(String)
  }

  /// Maximum number of handshakes that are kept.
  private static let capacity = 16
  /// Maximum number of sources without a complete handshake that are answered, each up to
  /// `HandshakeLink.answerLimit`; twice as many if the source is the far side's.
  private static let sources = 20
  /// Maximum number of handshakes that exchange words: each gives an attacker who impersonates the
  /// far side one guess (`ShortAuthentication`).
  private static let guesses = 3
  /// Interval of `tick`, in nanoseconds.
  package static let repeatNanoseconds: Int64 = 20_000_000
  private static let ticksBetweenMessages = 3
  private static let ticksBetweenHandshakes = 50
  /// Ticks for which a complete handshake from a port unknown to signalling waits for that of the
  /// other port, if the far side's RTCP has its own port.
  private static let secondPortTicks = 10

  private let identity: Identity
  /// True for the DTLS client, the side that begins.
  package let isClient: Bool
  private var links: [HandshakeLink] = []
  /// Number of datagrams sent to each source without a complete handshake; kept after its link is
  /// removed.
  private var unanswered: [SocketAddress: Int] = [:]
  private var expectation: Expectation?
  /// Hosts that signalling comes from; `answeringHosts` are those that have answered requests, so
  /// that they cannot be forged.
  private var hosts: Set<String> = []
  private var answeringHosts: Set<String> = []
  private var remote: SocketAddress?
  private var control: SocketAddress?
  private var outgoing: [Outgoing] = []
  private var ticks = 0
  private var nextBegin = 50
  private var exchanges = 0
  private var isHurried = false
  /// The state of this handshake.
  package private(set) var state = State.waiting
  /// The far side's proven address; nil before there is one.
  ///
  /// For a client, the address that it sends to, once that has answered. For a server, the address
  /// of the complete handshake.
  package private(set) var answeringAddress: SocketAddress?

  /// The side that begins, with a handshake to an address.
  package init(_ identity: Identity, towards address: SocketAddress) throws(IdentityError) {
    self.identity = identity
    isClient = true
    links = [try HandshakeLink(identity, isClient: true, to: address)]
    collect()
  }

  /// The side that waits for a handshake.
  package init(waitingWith identity: Identity) {
    self.identity = identity
    isClient = false
  }

  /// True for the first byte of a datagram of DTLS (RFC 7983 section 7).
  package static func owns(firstByte: UInt8) -> Bool { (20...63).contains(firstByte) }

  /// Sets the far side's expected fingerprint, and the addresses of its media and RTCP.
  ///
  /// They have the same address if one port carries both. A handshake that this side has begun
  /// continues at `remote`.
  package mutating func expect(
    _ expectation: Expectation,
    at remote: SocketAddress,
    control: SocketAddress
  ) {
    self.expectation = expectation
    self.remote = remote
    self.control = control
    if isClient { links.first?.address = remote }
    for link in links { beginWords(on: link) }
    collect()
    decide()
  }

  /// Notes a host that signalling comes from: media from behind a NAT comes from there as well.
  ///
  /// `hasAnswered` is true if the host has answered requests, which proves its address; it is then
  /// sent more datagrams.
  package mutating func admit(host: String, hasAnswered: Bool) {
    hosts.insert(host)
    if hasAnswered { answeringHosts.insert(host) }
  }

  private func isNamed(_ source: SocketAddress) -> Bool {
    let called = isClient ? links.first?.address : nil
    return hosts.contains(source.host)
      || [called, remote, control].contains { $0?.host == source.host }
  }

  /// Handles a received datagram.
  package mutating func receive(_ datagram: MediaSocket.Datagram) {
    guard let first = datagram.bytes.first, Self.owns(firstByte: first) else { return }
    // Whom this side calls answers from where it was called, or from where its signalling comes.
    if isClient, !isNamed(datagram.source) { return }
    if isClient, datagram.source == links.first?.address { answeringAddress = datagram.source }
    // A far side with several addresses may answer from another one than it was asked at. Without
    // memory for one more handshake it asks again.
    if !isClient { links.removeAll { $0.hasFailed } }
    if let link = links.first(where: { isClient || $0.address == datagram.source }) {
      receive(datagram, by: link)
    } else if !isClient, makeRoom(for: datagram.source),
      let link = try? HandshakeLink(
        identity,
        isClient: false,
        to: datagram.source,
        unanswered: unanswered[datagram.source] ?? 0
      )
    {
      links.append(link)
      receive(datagram, by: link)
    }
    collect()
    decide()
  }

  private mutating func receive(_ datagram: MediaSocket.Datagram, by link: HandshakeLink) {
    link.receive(datagram.bytes)
    beginWords(on: link)
  }

  // Strangers do not take the place of the far side that signalling names.
  private mutating func makeRoom(for source: SocketAddress) -> Bool {
    let isFarSide = source == remote || answeringHosts.contains(source.host)
    guard
      unanswered[source] != nil || source == remote
        || unanswered.count < Self.sources * (isFarSide ? 2 : 1)
    else { return false }
    guard links.count >= Self.capacity else { return true }
    guard isNamed(source), let expected = expectation?.fingerprint,
      let place = links.firstIndex(where: { $0.peer != expected })
    else { return false }
    links.remove(at: place)
    return true
  }

  // The first far side begins while the call rings; others only if they are whom signalling names.
  private mutating func beginWords(on link: HandshakeLink) {
    guard let peer = link.peer, !link.hasBegunWords, exchanges < Self.guesses else { return }
    if let expectation {
      guard peer == expectation.fingerprint else { return }
    } else {
      guard exchanges == 0 else { return }
    }
    exchanges += 1
    link.beginWords()
  }

  /// Retransmits unanswered flights faster from now on; to be called once the call is answered.
  package mutating func hurry() { isHurried = true }

  /// Advances the time by a tick: to be called every `repeatNanoseconds` until the handshake is
  /// over.
  package mutating func tick() {
    ticks += 1
    for link in links {
      link.tick(
        repeatsMessages: ticks % Self.ticksBetweenMessages == 0,
        isHurried: isHurried && link.address == remote,
        asksForWords: expectation?.exchangesWords ?? false
      )
    }
    beginAnew()
    collect()
    decide()
  }

  // The far side may not have been there yet, or behind a firewall that is open now.
  private mutating func beginAnew() {
    // Without memory for another handshake a later tick tries again.
    guard isClient, let link = links.first, link.hasFailed, ticks >= nextBegin,
      let next = try? HandshakeLink(identity, isClient: true, to: link.address)
    else { return }
    nextBegin = ticks + Self.ticksBetweenHandshakes
    links = [next]
  }

  /// The datagrams to send now.
  package mutating func takeOutgoing() -> [Outgoing] {
    defer { outgoing = [] }
    return outgoing
  }

  private mutating func collect() {
    for link in links {
      let isKnown = answeringHosts.contains(link.address.host)
      let limit = isKnown ? HandshakeLink.knownAnswerLimit : HandshakeLink.answerLimit
      outgoing += link.takeDatagrams(limit: limit)
        .map { Outgoing(bytes: $0, destination: link.address) }
      unanswered[link.address] = link.unanswered > 0 ? link.unanswered : nil
    }
  }

  private mutating func decide() {
    guard case .waiting = state, let expectation else { return }
    if isClient, let link = links.first {
      if let peer = link.peer, peer != expectation.fingerprint {
        return state = .failed("the far side has shown another certificate than it announced")
      }
    }
    if let link = readyLink(for: expectation) {
      do {
        state = .secured(try link.makeMedia(expectation))
        if !isClient { answeringAddress = link.address }
      } catch {
        state = .failed("the sides have no cipher for the voice in common")
      }
      return
    }
    if let link = links.first(where: \.isForged), link.peer == expectation.fingerprint {
      state = .failed("the far side has changed the number that the words are made of")
    }
  }

  // The one of the RTP port. If a router has changed both ports, that is the lower one: many
  // routers keep two ports in a row (RFC 4787 section 4.2.3).
  private func readyLink(for expectation: Expectation) -> HandshakeLink? {
    let ready = links.filter { $0.isReady(for: expectation) }
    if let named = ready.first(where: { $0.address == remote }) { return named }
    guard !isClient, control != remote else { return ready.first }
    for link in ready { link.noteReady(atTick: ticks) }
    let unnamed = ready.filter { $0.address != control }
    guard unnamed.contains(where: { ticks - ($0.readyTick ?? ticks) >= Self.secondPortTicks })
    else { return nil }
    return unnamed.min { $0.address.port < $1.address.port }
  }
}
