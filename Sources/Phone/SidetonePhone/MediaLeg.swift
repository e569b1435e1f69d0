public import AVFAudio
public import CallSecurity
import Foundation
import MediaCore
import RTP
import RealTime
public import SIPSignalling
import SRTP
import UDPTransport
public import VoiceEngine
import VoiceStream

/// The media of one call: an RTP port from the first offer on, and a stream as long as both sides
/// have agreed and an engine runs.
///
/// ```swift
/// let leg = MediaLeg(PhoneConfiguration(), host: "192.168.1.20")
/// try leg.open(portPolicy: .anyPort)
/// let offer = leg.offer          // for the INVITE, or the answer to one
/// try leg.agree(media)           // what signalling reports
/// try leg.attach(to: engine.streams)   // the session has been activated
/// ```
///
/// Agreement and engine may come in either order, and change or go at any time. Each change ends
/// the stream and starts the next one over the same port. Streams of the same clock rate and keys
/// are one RTP source, which sends BYE at the end of the call, unless that ends during a hold.
///
/// With an identity the media is encrypted if the sides agree on it: a handshake runs over the port
/// while the call rings, `report` is called with its outcome, and the stream starts once `secure`
/// has been called with the keys.
///
/// **Life cycle:** `open` binds the port, which is closed with the last reference.
/// **Thread safety:** one actor or queue owns it. **Ownership:** the engine owns the stream and a
/// duplicate of the socket.
public final class MediaLeg {
  /// The action if the configured RTP port is in use.
  public enum PortPolicy: Equatable, Sendable {
    /// Fail: the port was promised to the user.
    case configuredPort
    /// Take another one.
    case anyPort
  }

  /// The stream of the running engine; nil while there is none.
  public private(set) var stream: StreamID?
  /// The mute state: while `muted`, silence is sent instead of the microphone.
  public private(set) var muteState = MuteState.unmuted

  private let configuration: PhoneConfiguration
  private let host: String
  private let identity: Identity?
  /// Certificate for relays that ask for one, whether or not the call is encrypted.
  private let relayIdentity: Identity?
  private let report: @Sendable (HandshakeReport) -> Void
  private var handshake: HandshakeRunner?
  private var secured: SecuredMedia?
  /// Keys that were agreed on in the descriptions, and their SRTP session.
  private var described: (keys: SRTPKeys, session: SRTPSession)?
  /// Certificate that the far side must present in the handshake; nil before it is known.
  private var expected: Fingerprint?
  /// The far side's address for the handshake; nil before it is known.
  private var handshakeAddress: SocketAddress?
  /// Host that signalling comes from, and whether it has answered.
  private var signalling: (host: String, hasAnswered: Bool)?
  private var socket: MediaSocket?
  /// Access to the port for connectivity checks; nil without them.
  private(set) var checkPort: CheckPort?
  /// The path whose ICE candidates this side offers; nil to offer the address of its port alone.
  package var path: PathOffer?
  /// Path of the voice that connectivity checks have selected; nil before, or without them.
  private var route: MediaRoute?
  /// Media whose handshake waits for the route.
  private var unrouted: NegotiatedMedia?
  private var standby: StandbyReader?
  private var streams: CallStreams?
  private var agreed: NegotiatedMedia?
  /// The agreement applied last: the stream's, or one that needs no stream, as in a remote hold.
  private var streamed: NegotiatedMedia?
  /// True if packets that wait in the socket are too old to be played.
  private var isPendingOld = false
  private var source = CallSource()
  private var conference = 0
  private var isRecording = false
  /// Earliest time to follow the far side to another codec: frequent changes are not all followed.
  private var nextCodecChange = MonotonicInstant(nanoseconds: .min)
  private static let codecPause = 1
  /// Sound that former streams have recorded.
  private var recorded = RecordedSound()
  /// Digits that were pressed before there was a stream.
  private var digitsToSend: [UInt8] = []
  /// Codes that streams have received and that were not taken yet: digits and `CodecNews`.
  private var digitsReceived: [UInt8] = []

  /// Creates media at a numeric address of this machine; the port is not open yet.
  ///
  /// - Parameters:
  ///   - configuration: the settings for codecs, packets and encryption.
  ///   - host: the numeric address.
  ///   - identity: the certificate to encrypt with, unless the configuration forbids it; nil for
  ///     unencrypted media.
  ///   - report: called at most once for each handshake, on a queue of its own.
  public init(
    _ configuration: PhoneConfiguration,
    host: String,
    identity: Identity? = nil,
    report: @escaping @Sendable (HandshakeReport) -> Void = { _ in }
  ) {
    self.configuration = configuration
    self.host = host
    self.identity = configuration.security == .off ? nil : identity
    relayIdentity = identity
    self.report = report
  }

  deinit {
    handshake?.stop()
    standby?.stop()
    detach(isLast: true)
  }

  // MARK: Port and agreement

  /// Binds the RTP port.
  ///
  /// Throws a `PhoneError` if neither it nor, where `portPolicy` allows, another port can be bound,
  /// or the system's error if descriptors are missing.
  public func open(portPolicy: PortPolicy) throws {
    socket = try configuration.openSocket(at: host, portPolicy)
    if checksPaths { checkPort = try socket?.makeCheckPort() }
    try waitForHandshake()
    try follow()
  }

  /// True once `open` has bound the port.
  var isOpen: Bool { socket != nil }

  /// True to select the path by connectivity checks (ICE, RFC 8445); set before `open`.
  public var checksPaths = false

  /// Returns the arguments for collecting ICE candidates.
  package func pathRequest(isOffering: Bool, account: SIPAccount?) -> UserAgent.PathRequest {
    UserAgent.PathRequest(
      host: host,
      isBoundToHost: configuration.bindsMediaToHost,
      isOffering: isOffering,
      account: account,
      identity: relayIdentity
    )
  }

  /// True to offer no unencrypted call.
  public var isEncryptionRequired = false

  /// The media to offer, or to answer an offer with; nil before `open`.
  public var offer: MediaOffer? {
    (socket?.localPort).map {
      var offer = configuration.offer(
        host: host,
        port: $0,
        encryption: identity.map {
          EncryptionOffer(fingerprint: $0.fingerprint, isRequired: isEncryptionRequired)
        }
      )
      offer.path = path
      return offer
    }
  }

  /// Applies what the sides have agreed on; nil ends the former agreement, as in a hold.
  ///
  /// Throws the engine's or the system's error if the stream cannot start.
  public func agree(_ media: NegotiatedMedia?) throws {
    if let media { try prepare(for: media) }
    // A far side that goes on without checks is where its description says.
    if let media, media.addresses == nil { route = nil }
    if media?.encryption != nil, secured == nil, unrouted == nil { handshake?.limitTime() }
    // Packets that need no handshake are the stream's from the first one on.
    if let media, media.encryption == nil { endHandshake() }
    if media == nil, agreed != nil { isPendingOld = true }
    // What says the same again leaves the codec that the far side has chosen of several.
    let isSame =
      streamed.map { media?.taking($0.receivePayloadType)?.alone == $0.alone } ?? false
    agreed = isSame ? streamed : media
    // Digits of before a hold would arrive at another time than they were pressed for.
    if media?.maySend != true { digitsToSend = [] }
    try follow()
  }

  /// Runs the handshake for media that will be agreed on, while the call rings.
  ///
  /// Throws if the handshake cannot begin for lack of memory or descriptors.
  func prepare(for media: NegotiatedMedia) throws {
    guard let identity, let encryption = media.encryption else { return }
    let isOther = expected != encryption.fingerprint
    guard isOther || secured == nil else { return }
    guard let (remote, control) = destination(of: media) else {
      guard isOther else { return }
      unrouted = media
      return try waitForHandshake()
    }
    // The far side may be at another address before the handshake is over.
    guard isOther || remote != handshakeAddress else { return }
    unrouted = nil
    handshakeAddress = remote
    if isOther {
      // Another certificate is another handshake.
      if expected != nil { endHandshake() }
      expected = encryption.fingerprint
      secured = nil
      if encryption.beginner == .local, let socket = try socket?.duplicate() {
        endHandshake()
        let runner = try HandshakeRunner(identity, towards: remote, over: socket, report)
        handshake = runner
        admitSignalling(to: runner)
      } else {
        try waitForHandshake()
      }
    }
    handshake?.expect(
      MediaHandshake.Expectation(
        fingerprint: encryption.fingerprint,
        exchangesWords: encryption.exchangesWords
      ),
      at: remote,
      control: control
    )
  }

  // The far side may begin before it is known which certificate it is to show.
  private func waitForHandshake() throws {
    guard handshake == nil, let identity, let socket = try socket?.duplicate() else { return }
    let runner = HandshakeRunner(waitingWith: identity, over: socket, report)
    handshake = runner
    admitSignalling(to: runner)
  }

  private func admitSignalling(to handshake: HandshakeRunner?) {
    guard let signalling else { return }
    handshake?.admit(host: signalling.host, hasAnswered: signalling.hasAnswered)
  }

  /// Notes the host that the call came from, which may be forged; to be called before `prepare`.
  func noteCaller(at host: String) {
    signalling = (host, false)
    admitSignalling(to: handshake)
  }

  /// Notes the host of the far side's signalling, which is not forged as it has answered; nil does
  /// nothing.
  public func noteAnswer(from host: String?) {
    guard let host else { return }
    socket?.noteAnswer(fromHost: host)
    signalling = (host, true)
    admitSignalling(to: handshake)
  }

  private func endHandshake() {
    handshake?.stop()
    handshake = nil
  }

  /// Sends the voice over another path from now on, and runs a handshake that waited for one.
  ///
  /// Throws the engine's or the system's error if the stream cannot start.
  package func take(_ route: MediaRoute) throws {
    let before = self.route
    self.route = route
    if let media = unrouted ?? agreed {
      try prepare(for: media)
      if agreed?.encryption != nil, secured == nil { handshake?.limitTime() }
    }
    // A far side that has moved is followed by the stream itself, as long as this one has not.
    let isFollowed =
      streamed?.encryption != nil && before.map { $0.kind != .relayed } ?? false
      && route.kind != .relayed && !route.isAfterMove
    if stream != nil, route.destination != before?.destination, !isFollowed { detach() }
    try follow()
  }

  private static func address(_ host: String, _ port: UInt16) -> SocketAddress? {
    SocketAddress(host: host, port: port).flatMap { $0.isUnicast ? $0 : nil }
  }

  // Nil for what is no address, and before a way is known.
  private func destination(
    of media: NegotiatedMedia
  ) -> (voice: SocketAddress, control: SocketAddress)? {
    let control = Self.address(media.controlHost, media.controlPort)
    if media.addresses != nil, checkPort != nil {
      let own = media.controlPort == media.port ? nil : control
      return route.map { ($0.destination, own ?? $0.destination) }
    }
    guard let voice = Self.address(media.host, media.port), let control else { return nil }
    return (voice, control)
  }

  /// Applies the keys that a handshake has brought.
  ///
  /// Throws the engine's or the system's error if the stream cannot start.
  public func secure(with media: SecuredMedia) throws {
    guard media.encryption.fingerprint == expected else { return }
    secured = media
    try follow()
  }

  /// Runs the stream on the engine of `streams` from now on; nil once the session is deactivated.
  ///
  /// Throws the engine's or the system's error if the stream cannot start.
  public func attach(to streams: CallStreams?) throws {
    if streams !== self.streams {
      detach()
      self.streams = streams
    }
    try follow()
  }

  private func follow() throws {
    try startStream()
    // With the keys the handshake is over, and in a hold no stream takes the port over. What checks
    // the way is to be read soon after this side has held the call.
    let isHeld =
      agreed.map { !$0.maySend && !$0.mayReceive } ?? (isPendingOld && checkPort != nil)
    if stream == nil, secured != nil, isHeld { endHandshake() }
    // Something has to read what checks the way.
    guard checkPort != nil, stream == nil, handshake == nil else { return endStandby() }
    do {
      try startStandby()
    } catch {
      // A way that is lost without it is looked for once the call goes on.
      if !isHeld { throw error }
    }
  }

  private func startStandby() throws {
    guard standby == nil, let socket = try socket?.duplicate() else { return }
    standby = StandbyReader(over: socket)
  }

  private func endStandby() {
    standby?.stop()
    standby = nil
  }

  private func startStream() throws {
    guard agreed != streamed else { return }
    detach()
    guard let streams, let media = agreed, isOpen else { return }
    // While the far side holds the call there is nothing to send or play.
    guard media.maySend || media.mayReceive else {
      streamed = media
      return
    }
    guard let (remote, control) = destination(of: media) else {
      // The way is being looked for, or what was agreed on is no address.
      if media.addresses == nil || checkPort == nil { streamed = media }
      return
    }
    // Until there are keys, nothing is sent and nothing is heard.
    if media.encryption != nil, secured == nil { return }
    let session = try session(for: media)
    endHandshake()
    // The socket of a stream that ended before is closed by that.
    streams.collect()
    if control.port != remote.port { socket?.openReports() }
    // Last, since a hold is to need no descriptor.
    guard var socket = try makeSocket() else { return }
    // What arrived during a hold is old; the first words of a new call are not.
    if isPendingOld { socket.discardPending() }
    isPendingOld = true
    let isChecked = media.addresses != nil && checkPort != nil
    socket.connect(to: remote, control: control, isAnswering: isChecked)
    let stream = configuration.stream(for: media)
    let id = try streams.attach(
      stream,
      over: Self.transport(socket, session),
      muteState,
      conference: conference,
      as: source.source(for: stream, under: session)
    )
    self.stream = id
    streamed = media
    if isRecording { streams.setRecording(id, true) }
    for code in digitsToSend { streams.press(id, code: code) }
    digitsToSend = []
  }

  // The one of the standby reader, if there is one: a resume is to need no other descriptor.
  private func makeSocket() throws -> MediaSocket? {
    if let standby {
      self.standby = nil
      return standby.stop()
    }
    return try socket?.duplicate()
  }

  // Nil for media in the open. The same keys go on where they were, and others begin anew.
  private func session(for media: NegotiatedMedia) throws -> SRTPSession? {
    if media.encryption != nil { return secured?.session }
    guard let keys = media.describedKeys else { return nil }
    if let described, described.keys == keys { return described.session }
    let session = try SRTPSession(keys)
    described = (keys, session)
    return session
  }

  private static func transport(
    _ socket: consuming MediaSocket,
    _ session: SRTPSession?
  ) -> SecureTransport<MediaSocket> {
    guard let session else { return SecureTransport(open: socket) }
    return SecureTransport(socket, under: session)
  }

  private func detach(isLast: Bool = false) {
    if let stream, let streams {
      digitsReceived += streams.takeDigits(of: stream)
      if isRecording { recorded.append(streams.takeRecording(of: stream)) }
      streams.detach(stream, isLast: isLast)
      // The socket of a detached stream closes when statistics are read.
      _ = streams.statistics(of: stream)
    }
    stream = nil
    streamed = nil
  }

  // MARK: The stream

  /// Sends silence instead of the microphone, or the microphone again.
  public func setMuted(_ state: MuteState) {
    muteState = state
    if let stream { streams?.setMuted(stream, state) }
  }

  /// Sends DTMF digits (RFC 4733), coded as in its section 3.2; without a stream, as soon as there
  /// is one.
  package func send(digits: [UInt8]) {
    guard let stream, let streams else {
      digitsToSend += digits
      return
    }
    for code in digits { streams.press(stream, code: code) }
  }

  /// Returns the codes of the DTMF digits that have arrived since this was last called.
  package func takeDigits() -> [UInt8] {
    if let stream, let streams { digitsReceived += streams.takeDigits(of: stream) }
    // What is no digit waits for `followCodec`.
    defer { digitsReceived.removeAll { CodecNews(code: $0) == nil } }
    return digitsReceived.filter { CodecNews(code: $0) == nil }
  }

  /// Switches to the codec that the far side sends, if that is another agreed one, at most once a
  /// second.
  ///
  /// Throws the engine's or the system's error if the stream cannot start.
  package func followCodec() throws {
    if let stream, let streams { digitsReceived += streams.takeDigits(of: stream) }
    let news = digitsReceived.compactMap { CodecNews(code: $0) }.last
    digitsReceived.removeAll { CodecNews(code: $0) != nil }
    let now = MonotonicClock.now()
    guard let news, let media = agreed?.taking(news.payloadType),
      now >= nextCodecChange
    else { return }
    nextCodecChange = now.advanced(by: .seconds(Self.codecPause))
    agreed = media
    try follow()
  }

  /// Adds the stream to a conference, whose streams hear each other; 0 takes it out of its own.
  package func setConference(_ conference: Int) {
    self.conference = conference
    if let stream { streams?.setConference(stream, conference) }
  }

  /// Starts or stops recording this stream and those that follow; the far side hears a tone
  /// meanwhile.
  package func setRecording(_ isRecording: Bool) {
    if let stream {
      recorded.append(streams?.takeRecording(of: stream) ?? RecordedSound())
      streams?.setRecording(stream, isRecording)
    }
    self.isRecording = isRecording
  }

  /// Returns the sound recorded since this was last called; to be called every ten seconds at
  /// least.
  package func takeRecording() -> RecordedSound {
    if isRecording, let stream, let streams {
      recorded.append(streams.takeRecording(of: stream))
    }
    defer { recorded = RecordedSound() }
    return recorded
  }

  /// The newest figures of the stream; nil without one, and in its first tenth of a second.
  package var statistics: StreamStatistics? {
    stream.flatMap { stream in streams.flatMap { $0.statistics(of: stream) } }
  }
}
