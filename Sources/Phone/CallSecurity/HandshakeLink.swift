import SRTP
import UDPTransport

/// One handshake with one address, and the exchange of words behind it.
///
/// **Thread safety:** belongs to its `MediaHandshake`.
final class HandshakeLink {
  /// Where it sends to.
  var address: SocketAddress
  private let identity: Identity
  private let isClient: Bool
  private var association: DTLSAssociation
  private var words: ShortAuthentication?
  private var outgoing: [[UInt8]] = []
  /// How many datagrams have left since the last one came.
  private(set) var unanswered = 0
  /// How many answers go to a source, which may be forged, before it sends another datagram.
  ///
  /// What this side sends first is limited by the socket.
  static let answerLimit = 25
  /// The tick at which its keys could first have been used, nil before.
  private(set) var readyTick: Int?
  /// What the far side may have missed.
  private var lastFlight: [[UInt8]] = []

  init(
    _ identity: Identity,
    isClient: Bool,
    to address: SocketAddress
  ) throws(IdentityError) {
    self.identity = identity
    self.isClient = isClient
    self.address = address
    let association = try DTLSAssociation(identity, isClient: isClient)
    self.association = association
    collect()
  }

  /// The far side's certificate, nil before the handshake is over.
  var peer: Fingerprint? {
    association.progress == .complete ? association.peer?.fingerprint : nil
  }

  var hasFailed: Bool { association.progress == .failed }
  var isForged: Bool { words?.isForged ?? false }
  var hasBegunWords: Bool { words != nil }

  func receive(_ datagram: [UInt8]) {
    unanswered = 0
    let wasComplete = association.progress == .complete
    let knownWords = words?.words
    association.receive(datagram)
    guard association.progress == .complete else { return collect() }
    if words != nil {
      receiveWords()
    } else if !isClient {
      // Nothing is to be said yet, and nothing is to pile up.
      while association.nextMessage() != nil {}
    }
    let before = outgoing.count
    collect()
    // It has not heard the end: nothing new came of what it sent.
    if wasComplete, knownWords == words?.words, outgoing.count == before, !isClient {
      outgoing += lastFlight
    }
  }

  private func receiveWords() {
    while let message = association.nextMessage() {
      if let answer = words?.receive(message) { association.send(answer) }
    }
  }

  /// Exchanges words from now on, once the handshake is over.
  func beginWords() {
    guard let peer = association.peer?.fingerprint, let secret = association.secret,
      let number = ShortAuthentication.randomNumber()
    else { return }
    words = ShortAuthentication(
      isClient: isClient,
      ShortAuthentication.Context(
        client: isClient ? identity.fingerprint : peer,
        server: isClient ? peer : identity.fingerprint,
        secret: secret
      ),
      number: number
    )
    if let opening = words?.opening { association.send(opening) }
    collect(joining: true)
    // The far side's first message may have come with the end of the handshake.
    receiveWords()
    collect()
  }

  func tick(repeatsMessages: Bool) {
    association.repeatIfDue()
    collect()
    // The same records again: a far side that has them drops them (RFC 6347 section 4.1.2.6).
    if repeatsMessages, association.progress == .complete, words != nil, words?.words == nil {
      outgoing += lastFlight
    }
  }

  // A flight that ends the handshake or the words is kept to be sent again, with what joins it.
  private func collect(joining isJoining: Bool = false) {
    let datagrams = association.takeDatagrams()
    guard !datagrams.isEmpty else { return }
    outgoing += datagrams
    guard association.progress == .complete else { return }
    lastFlight = isJoining ? lastFlight + datagrams : datagrams
  }

  /// What is to be sent.
  func takeDatagrams() -> [[UInt8]] {
    defer { outgoing = [] }
    guard !isClient else { return outgoing }
    let taken = outgoing.prefix(max(0, Self.answerLimit - unanswered))
    unanswered += taken.count
    return Array(taken)
  }

  /// True once the keys may be used with this far side.
  func isReady(for expectation: MediaHandshake.Expectation) -> Bool {
    guard peer == expectation.fingerprint else { return false }
    return !expectation.exchangesWords || words?.words != nil
  }

  /// Notes that its keys may be used from the given tick on.
  func noteReady(atTick tick: Int) {
    if readyTick == nil { readyTick = tick }
  }

  func makeMedia(_ expectation: MediaHandshake.Expectation) throws(SRTPError) -> SecuredMedia {
    guard let keys = association.keys else { throw .wrongKeyLength }
    return SecuredMedia(
      session: try SRTPSession(keys, lastFlight: isClient ? [] : lastFlight),
      encryption: Encryption(
        profile: keys.profile,
        fingerprint: expectation.fingerprint,
        words: words?.words
      ),
      isLasting: association.peer?.isLasting ?? false
    )
  }
}
