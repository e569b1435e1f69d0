import SRTP
import UDPTransport

/// One handshake with one address, and the exchange of words that follows it.
///
/// **Thread safety:** belongs to its `MediaHandshake`.
final class HandshakeLink {
  /// Destination of its datagrams.
  var address: SocketAddress
  private let identity: Identity
  private let isClient: Bool
  private var association: DTLSAssociation
  private var words: ShortAuthentication?
  private var outgoing: [[UInt8]] = []
  /// Number of datagrams sent to a source that has not completed the handshake; 0 for the client.
  private(set) var unanswered = 0
  /// Maximum number of datagrams sent to a source that has not completed the handshake: its address
  /// may be forged, and this side must not amplify traffic to it.
  ///
  /// A client's datagrams are limited by the socket instead.
  static let answerLimit = 25
  /// The same limit for a host that has answered signalling.
  static let knownAnswerLimit = 100
  /// First tick at which its keys could be used; nil before that.
  private(set) var readyTick: Int?
  /// This side's last flight of the handshake; it and `message`, the newest message of the exchange
  /// of words, are kept to be sent again.
  private var flight: [[UInt8]] = []
  private var message: [[UInt8]] = []
  /// Ticks between two copies of an unanswered flight; `ticksLeft` are those until the next copy.
  private var pause = firstPause
  private var ticksLeft = firstPause

  /// First pause in ticks: 60 ms, and a quarter more each time, which makes 17 copies while an
  /// answered call waits for the handshake.
  private static let firstPause = 3

  init(
    _ identity: Identity,
    isClient: Bool,
    to address: SocketAddress,
    unanswered: Int = 0
  ) throws(IdentityError) {
    self.identity = identity
    self.isClient = isClient
    self.address = address
    self.unanswered = unanswered
    association = try DTLSAssociation(identity, isClient: isClient)
    begin(association.takeDatagrams())
  }

  private func begin(_ flight: [[UInt8]]) {
    guard !flight.isEmpty else { return }
    send(flight)
    (pause, ticksLeft) = (Self.firstPause, Self.firstPause)
  }

  private func send(_ flight: [[UInt8]]) {
    self.flight = flight
    outgoing += flight
  }

  /// Fingerprint of the far side's certificate; nil before the handshake is complete.
  var peer: Fingerprint? {
    association.progress == .complete ? association.peer?.fingerprint : nil
  }

  var hasFailed: Bool { association.progress == .failed }
  var isForged: Bool { words?.isForged ?? false }
  var hasBegunWords: Bool { words != nil }

  func receive(_ datagram: [UInt8]) {
    let wasComplete = association.progress == .complete
    let known = (words: words?.words, message: message)
    association.receive(datagram)
    let sent = association.takeDatagrams()
    let isComplete = association.progress == .complete
    // Until then the source may be forged.
    if isComplete { unanswered = 0 }
    guard isComplete else { return begin(sent) }
    if !wasComplete { send(sent) }
    if words != nil {
      receiveWords()
    } else if !isClient {
      // Nothing is to be said yet, and nothing is to pile up.
      while association.nextMessage() != nil {}
      noteRepeatedFlight()
    }
    // It has not heard the end: nothing new came of what it sent.
    if wasComplete, !isClient, known == (words?.words, message) { outgoing += lastFlight }
  }

  private var lastFlight: [[UInt8]] { Self.packed(flight + message) }

  // A flight and a message that have room in one datagram are lost together or not at all.
  private static func packed(_ datagrams: [[UInt8]]) -> [[UInt8]] {
    DTLSAssociation.datagrams(of: datagrams.flatMap { $0 })
  }

  private func receiveWords() {
    while let received = association.nextMessage() {
      noteRepeatedFlight()
      if let answer = words?.receive(received) { say(answer) }
    }
    noteRepeatedFlight()
  }

  // OpenSSL repeats a flight when it reads a copy of the far side's: that alone, in new records,
  // and none of what followed it.
  private func noteRepeatedFlight() {
    let repeated = association.takeDatagrams()
    if !repeated.isEmpty { flight = repeated }
  }

  private func say(_ text: [UInt8]) {
    association.send(text)
    message = association.takeDatagrams()
    outgoing += message
  }

  /// Begins to exchange words, once the handshake is complete.
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
    if let opening = words?.opening { say(opening) }
    // The far side's first message may have come with the end of the handshake.
    receiveWords()
  }

  /// Advances the time by 20 ms.
  ///
  /// - Parameters:
  ///   - repeatsMessages: true if messages without an answer are to be sent again in this tick.
  ///   - isHurried: true once the call has been answered, for the address that signalling names.
  ///   - asksForWords: true for a far side that exchanges words.
  func tick(repeatsMessages: Bool, isHurried: Bool, asksForWords: Bool) {
    if association.progress == .waiting { repeatFlight(isHurried: isHurried) }
    guard repeatsMessages, association.progress == .complete, words != nil, words?.words == nil
    else { return }
    // The same records again: a far side that has them drops them (RFC 6347 section 4.1.2.6).
    outgoing += lastFlight
    // The side that is to answer may have sent all that it sends without hearing from this one.
    if isClient, isHurried, asksForWords, message.isEmpty {
      association.send(ShortAuthentication.question)
      outgoing += association.takeDatagrams()
    }
  }

  // OpenSSL repeats a flight as RFC 6347 has it, and leaves gaps of seconds. In those of a call
  // that people wait for the same records go once more: news to a far side that has none of them.
  private func repeatFlight(isHurried: Bool) {
    association.repeatIfDue()
    let sent = association.takeDatagrams()
    if !sent.isEmpty { send(sent) }
    guard isHurried else { return }
    ticksLeft -= 1
    guard ticksLeft <= 0, sent.isEmpty else { return }
    outgoing += flight
    pause += max(1, pause / 4)
    ticksLeft = pause
  }

  /// Takes the datagrams to send.
  ///
  /// A server sends at most `limit` datagrams to a source that has not completed the handshake.
  func takeDatagrams(limit: Int) -> [[UInt8]] {
    let datagrams = Self.packed(outgoing)
    outgoing = []
    guard !isClient else { return datagrams }
    let taken = datagrams.prefix(max(0, limit - unanswered))
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
