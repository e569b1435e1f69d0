import CallSecurity
import CLibre
import Glibc
import ICE
import SRTP
import UDPTransport

/// The local and the remote session description of one call, held by libre.
///
/// **Thread safety:** the event loop's thread only.
@safe
final class SessionDescription {
  let session: OpaquePointer
  let media: OpaquePointer
  private let encryption: EncryptionOffer?
  /// All formats, in this side's order of preference, and whether they are in use.
  private var ranking = re_formats()
  /// The side that begins the handshake, for all further agreements too; nil without a handshake.
  private var beginner: NegotiatedEncryption.Beginner?
  /// This side's keys; nil where the description may not contain any.
  private let describedKeys: DescribedKeys?
  /// Claim of the last agreement; once it is an encrypted one, no other claim is accepted.
  private var claim: MediaClaim?
  /// Key in this side's next answer, in place of a handshake; nil for none.
  private var describedAnswer: DescribedKey?

  /// This side's ICE candidates and credentials; nil to describe a single address.
  var addresses: ICEDescription?
  /// True if the far side's description has candidates as well.
  var hasRemoteAddresses = false
  /// The packet time that the far side insists on, in milliseconds; nil if it accepts any.
  private var packetMilliseconds: Int?
  /// The packet time that the next offer names, in milliseconds.
  private(set) var offeredPacketTime: Int
  /// Zero-based index of the call's voice among the media lines.
  private var line = 0

  /// Attribute that tells another Sidetone that this side exchanges words (`ShortAuthentication`).
  private static let wordsAttribute = "sidetone-words"

  /// The payload type for Opus that this side offers: the first dynamic one (RFC 3551).
  private static let opusPayloadType = "96"
  /// The payload type for redundant payloads (RFC 2198).
  private static let redundancyPayloadType = "97"
  /// The payload types for telephone events, by clock rate: the rate of the voice (RFC 4733 section
  /// 2.1), and 8 kHz, at which many programs count durations for any codec, with payload type 101
  /// whatever was offered.
  private static let eventPayloadTypes: [(rate: UInt32, payloadType: String)] = [
    (48_000, "102"), (commonEventRate, "101"),
  ]
  private static let commonEventRate: UInt32 = 8_000

  init?(_ offer: MediaOffer) {
    var session: OpaquePointer?
    var media: OpaquePointer?
    encryption = offer.encryption
    offeredPacketTime = max(1, offer.packetMilliseconds)
    addresses = offer.path?.description
    let own = addresses?.defaultCandidate?.address
    let code = unsafe re_description_alloc(
      &session,
      &media,
      own?.host ?? offer.host,
      own?.port ?? offer.port,
      offer.encryption?.profile ?? "RTP/AVP"
    )
    // Without randomness there are none.
    let mayDescribe = offer.encryption?.mayDescribeKeys == true && offer.encryption?.choice != .open
    describedKeys = mayDescribe ? try? DescribedKeys() : nil
    guard code == 0, let session = unsafe session, let media = unsafe media else { return nil }
    unsafe self.session = session
    unsafe self.media = media
    _ = unsafe re_description_allow_encryption(media)
    _ = unsafe re_description_set_packet_time(media, UInt32(offeredPacketTime))
    for codec in offer.codecs { add(codec, offer) }
    for event in Self.eventPayloadTypes
    where event.rate == Self.commonEventRate
      || offer.codecs.contains(where: { $0.clockRate == event.rate })
    {
      _ = unsafe re_description_add_format(
        media,
        event.payloadType,
        "telephone-event",
        event.rate,
        1,
        "0-15"
      )
    }
    unsafe re_formats_save(&ranking, media)
  }

  deinit {
    unsafe re_formats_end(&ranking, media, false)
    _ = unsafe mem_deref(UnsafeMutableRawPointer(session))
  }

  private func add(_ codec: OfferedCodec, _ offer: MediaOffer) {
    switch codec {
    case .opus:
      let parameters =
        "useinbandfec=1;minptime=3" + (offer.usesDiscontinuousTransmission ? ";usedtx=1" : "")
      _ = unsafe re_description_add_format(
        media,
        Self.opusPayloadType,
        codec.encodingName,
        48_000,
        2,
        parameters
      )
      guard offer.offersCopies else { return }
      _ = unsafe re_description_add_format(
        media,
        Self.redundancyPayloadType,
        "red",
        48_000,
        2,
        "\(Self.opusPayloadType)/\(Self.opusPayloadType)"
      )
    case .pcmu:
      _ = unsafe re_description_add_format(media, "0", codec.encodingName, 8_000, 1, nil)
    case .pcma:
      _ = unsafe re_description_add_format(media, "8", codec.encodingName, 8_000, 1, nil)
    }
  }

  /// Asks for packets of `milliseconds` from the next description on, and sends packets of this
  /// length.
  func setPacketTime(_ milliseconds: Int) {
    packetMilliseconds = milliseconds
    offeredPacketTime = milliseconds
    _ = unsafe re_description_set_packet_time(media, UInt32(milliseconds))
  }

  /// True once keys in the descriptions are agreed on, so that later descriptions contain them too.
  var describesKeys: Bool { claim == .keys }

  /// Describes another address, and another port unless that is nil, from the next description on.
  func move(to host: String, _ port: UInt16? = nil) {
    _ = unsafe re_description_move(session, media, host, port ?? 0)
  }

  /// Sets the direction from the next description on: `inactive` during a hold, else `sendrecv`
  /// (RFC 3264 section 8.4).
  func setHeld(_ isHeld: Bool) {
    unsafe sdp_media_set_ldir(media, isHeld ? SDP_INACTIVE : SDP_SENDRECV)
  }

  /// Returns the description as an offer or an answer; nil if memory runs out.
  ///
  /// The caller owns the buffer.
  func encode(asOffer isOffer: Bool) -> UnsafeMutablePointer<mbuf>? {
    describeEncryption(asOffer: isOffer)
    describeAddresses(asOffer: isOffer)
    var buffer: UnsafeMutablePointer<mbuf>?
    guard unsafe sdp_encode(&buffer, session, isOffer) == 0, let buffer = unsafe buffer else {
      return nil
    }
    defer { _ = unsafe mem_deref(buffer) }
    let shown = unsafe AudioLines.showing(Self.bytes(of: buffer))
    return unsafe re_buffer_from(shown, shown.count)
  }

  @unsafe
  private static func bytes(of buffer: UnsafeMutablePointer<mbuf>) -> UnsafeBufferPointer<UInt8> {
    unsafe UnsafeBufferPointer(start: mbuf_buf(buffer), count: mbuf_get_left(buffer))
  }

  // An answer has no encryption that the offer had not.
  private func describeEncryption(asOffer isOffer: Bool) {
    for name in ["fingerprint", "setup", Self.wordsAttribute, "crypto"] {
      unsafe re_description_remove(media, name)
    }
    guard let encryption, encryption.choice != .open else { return }
    // An open call goes on as one: some phones fall silent at a second offer of encryption.
    if isOffer, claim == .open { return }
    if isOffer && encryption.choice != .describedKeys || !isOffer && beginner != nil {
      let setup = isOffer ? "actpass" : beginner == .local ? "active" : "passive"
      _ = unsafe re_description_set(media, "fingerprint", encryption.fingerprint.attribute)
      _ = unsafe re_description_set(media, "setup", setup)
      _ = unsafe re_description_set(media, Self.wordsAttribute, "1")
    }
    // Once there is a handshake nothing else is offered.
    let mayDescribe = claim == nil || claim == .keys
    let offered = mayDescribe ? describedKeys?.own ?? [] : []
    let keys = isOffer ? offered : describedAnswer.map { [$0] } ?? []
    for value in keys.compactMap(\.attribute) {
      _ = unsafe re_description_add(media, "crypto", value)
    }
  }

  // The keys of both sides, if there is no handshake; nil if none are described or common.
  private func negotiatedKeys(isOffer: Bool) -> SRTPKeys? {
    guard let describedKeys else { return nil }
    let theirs = attributes("crypto").compactMap { DescribedKey(attribute: $0) }
    guard isOffer else { return describedKeys.agreed(by: theirs) }
    let found = describedKeys.answer(to: theirs)
    describedAnswer = found?.answer
    return found?.agreed
  }

  // Nil without encryption; the far side's description was taken in.
  private func negotiatedEncryption(isOffer: Bool) -> NegotiatedEncryption? {
    // There may be one for each hash (RFC 8122 section 5).
    let texts = attributes("fingerprint") + attributes("fingerprint", ofSession: true)
    guard let encryption, encryption.choice != .open,
      let fingerprint = texts.lazy.compactMap({ Fingerprint(attribute: $0) }).first
    else { return nil }
    // The side that answers begins, as RFC 5763 section 5 recommends.
    let setup = attribute("setup", orOfSession: true) ?? (isOffer ? "actpass" : "active")
    let beginner: NegotiatedEncryption.Beginner =
      beginner ?? (setup == "active" ? .remote : .local)
    return NegotiatedEncryption(
      fingerprint: fingerprint,
      beginner: beginner,
      exchangesWords: attribute(Self.wordsAttribute) != nil
    )
  }

  /// Makes the next offer name every codec again: an answer binds its own exchange alone (RFC 3264
  /// section 8).
  ///
  /// Those in use come first unless the far side requests the offer, perhaps for another phone.
  func offerAllCodecs(isRequested: Bool) {
    // Without memory they stay as they are.
    _ = unsafe re_description_offer_all(media, &ranking, !isRequested)
  }

  /// Returns the media that an answer to an offer would agree on; nil if no answer is possible.
  static func preview(
    _ body: UnsafeMutablePointer<mbuf>,
    at host: String,
    encryption: EncryptionOffer?
  ) -> NegotiatedMedia? {
    // What may not be is for the phone to refuse, in words.
    var encryption = encryption
    encryption?.choice = .any
    let offer = MediaOffer(
      host: host,
      port: 9,
      packetMilliseconds: 10,
      encryption: encryption
    )
    let addresses = ICEDescription(credentials: .random(), candidates: [])
    return unsafe answering(body, with: offer, addresses)?.media
  }

  /// Returns a description that accepts the first acceptable audio line of an offer, and the media
  /// agreed on; nil if no line is acceptable.
  static func answering(
    _ body: UnsafeMutablePointer<mbuf>,
    with offer: MediaOffer,
    _ addresses: ICEDescription?
  ) -> (description: SessionDescription, media: NegotiatedMedia)? {
    guard unsafe DescriptionForm.isGood(ArraySlice(bytes(of: body))) else { return nil }
    for line in unsafe AudioLines(bytes(of: body)).candidates(for: offer.host) {
      guard let description = SessionDescription(offer) else { return nil }
      description.addresses = addresses
      description.line = line.index
      if let media = unsafe description.negotiate(with: body, isOffer: true) {
        return (description, media)
      }
    }
    return nil
  }

  /// Applies the far side's description and returns the agreed media; nil if it is refused, so that
  /// the former agreement stands.
  ///
  /// It is refused without a common codec, or if it would end or change an agreed encryption.
  func negotiate(with body: UnsafeMutablePointer<mbuf>, isOffer: Bool) -> NegotiatedMedia? {
    var before = re_formats()
    unsafe re_formats_save(&before, media)
    let roles = (beginner, describedAnswer)
    let agreed = unsafe agreement(with: body, isOffer: isOffer)
    let isAccepted = agreed.map { claim == nil || claim == .open || claim == $0.claim } ?? false
    unsafe re_formats_end(&before, media, !isAccepted)
    guard let agreed, isAccepted else {
      (beginner, describedAnswer) = roles
      return nil
    }
    claim = agreed.claim
    unsafe re_formats_note_use(&ranking)
    return agreed
  }

  /// True for an answer that refuses the voice's media line (RFC 3264 section 6).
  func isVoiceRefused(by answer: UnsafeMutablePointer<mbuf>) -> Bool {
    unsafe AudioLines(Self.bytes(of: answer)).isRefused(line)
  }

  /// Returns the early media of a provisional response, without a change to the agreement: another
  /// phone may answer the call.
  ///
  /// Nil if the description is refused, or needs a handshake. Checks wait for the phone that
  /// answers; until then its default address is heard.
  func negotiateEarly(with body: UnsafeMutablePointer<mbuf>) -> NegotiatedMedia? {
    let before = (claim, beginner, describedAnswer)
    var formats = re_formats()
    unsafe re_formats_save(&formats, media)
    defer {
      unsafe re_formats_end(&formats, media, true)
      (claim, beginner, describedAnswer) = before
    }
    let agreed = unsafe agreement(with: body, isOffer: false)
    return agreed.flatMap { $0.encryption == nil ? $0.unchecked : nil }
  }

  private func agreement(
    with body: UnsafeMutablePointer<mbuf>,
    isOffer: Bool
  ) -> NegotiatedMedia? {
    let bytes = unsafe Self.bytes(of: body)
    guard unsafe DescriptionForm.isGood(ArraySlice(bytes)) else { return nil }
    let lines = unsafe AudioLines(bytes)
    // A name, a zone or a group is no address to send voice to, and libre takes it for none at all.
    // What refuses the voice or has no place for it changes nothing.
    guard let own = lines.usable.first(where: { $0.index == line }),
      own.host.map({ Self.isReachable($0) }) ?? false
    else { return nil }
    var taken = lines.hidingAll(but: line)
    // libre reads no line without its end, and some senders leave out the last one.
    if taken.last != UInt8(ascii: "\n") { taken += "\r\n".utf8 }
    guard let read = unsafe re_buffer_from(taken, taken.count) else { return nil }
    defer { _ = unsafe mem_deref(read) }
    guard unsafe sdp_decode(session, read, isOffer) == 0 else { return nil }
    var localPayloadType: CInt = 0
    var name: UnsafePointer<CChar>?
    guard let format = unsafe re_description_agree(media, nil, isOffer, &localPayloadType, &name),
      let name = unsafe name
    else { return nil }
    guard let codec = unsafe OfferedCodec(encodingName: String(cString: name)),
      let address = remoteAddress(isControl: false)
    else { return nil }
    let events = Set([codec.clockRate, Self.commonEventRate]).sorted(by: >).compactMap { rate in
      var (local, remote): (CInt, CInt) = (-1, -1)
      return unsafe re_description_agree_event(media, rate, &local, &remote)
        ? AgreedEvent(
          sendPayloadType: UInt8(truncatingIfNeeded: remote),
          receivePayloadType: UInt8(truncatingIfNeeded: local),
          clockRate: rate
        ) : nil
    }
    var localRedundancy: CInt = -1
    var remoteRedundancy: CInt = -1
    let hasCopies = unsafe re_description_agree_redundancy(
      media,
      codec.clockRate,
      localPayloadType,
      format.pointee.pt,
      &localRedundancy,
      &remoteRedundancy
    )
    let others = unsafe isOffer ? [] : otherCodecs(than: format, localPayloadType)
    let kept =
      [localPayloadType, localRedundancy] + others.map { CInt($0.local) }
      + events.map { CInt($0.receivePayloadType) }
    unsafe re_description_keep_only(media, kept, kept.count)

    let parameters = unsafe format.pointee.params.map { unsafe String(cString: $0) } ?? ""
    let isMultiplexed = attribute("rtcp-mux") != nil
    if isOffer && !isMultiplexed { unsafe re_description_forbid_multiplexing(media) }
    // A name that the far side has for the line (RFC 5888 section 9.1).
    if isOffer, let name = attribute("mid") { _ = unsafe re_description_set(media, "mid", name) }
    let encryption = negotiatedEncryption(isOffer: isOffer)
    if isOffer { describedAnswer = nil }
    let keys = encryption == nil ? negotiatedKeys(isOffer: isOffer) : nil
    // A profile that asks for encryption in a way that this side does not know.
    if encryption == nil, unsafe re_description_wants_handshake(media) { return nil }
    if encryption == nil, keys == nil,
      unsafe re_description_is_secure(media) || self.encryption?.isRequired == true
    {
      return nil
    }
    beginner = encryption?.beginner
    let control = isMultiplexed ? address : remoteAddress(isControl: true) ?? address
    // An answer without multiplexing is still one to an offer of one component, which is checked.
    let addresses =
      isMultiplexed || !isOffer ? remoteAddresses(with: address.host, address.port) : nil
    hasRemoteAddresses = addresses != nil
    let direction = unsafe sdp_media_dir(media)
    // An address of zeros is the older way to hold (RFC 3264 section 8.4), unless the far side's
    // addresses are yet to be found (RFC 8839 section 4.2.5).
    let isHeld = addresses == nil && Self.isUnspecified(address.host)
    // Checks of two components are none of ours, and without checks there is no address.
    if isHeld, !isMultiplexed, address.port == 9, attribute("candidate") != nil { return nil }
    var negotiated = NegotiatedMedia(
      codec: codec,
      sendPayloadType: unsafe UInt8(truncatingIfNeeded: format.pointee.pt),
      receivePayloadType: UInt8(truncatingIfNeeded: localPayloadType),
      host: address.host,
      port: address.port,
      controlHost: control.host,
      controlPort: control.port,
      packetMilliseconds: attribute("ptime").flatMap { Int($0) },
      longestPacketMilliseconds: attribute("maxptime").flatMap { UInt16($0) }.map { Int($0) },
      sendEventPayloadType: events.first?.sendPayloadType,
      receiveEventPayloadType: events.first?.receivePayloadType,
      eventClockRate: events.first?.clockRate ?? codec.clockRate,
      sendRedundancyPayloadType: hasCopies ? UInt8(truncatingIfNeeded: remoteRedundancy) : nil,
      receiveRedundancyPayloadType: hasCopies ? UInt8(truncatingIfNeeded: localRedundancy) : nil,
      largestBitrate: Self.number(named: "maxaveragebitrate", in: parameters),
      bandwidth: own.bitrate,
      shortestPacketMilliseconds: Self.number(named: "minptime", in: parameters)
        .flatMap { (1...120).contains($0) ? $0 : nil },
      decodesInBandRedundancy: parameters.contains("useinbandfec=1"),
      encryption: encryption,
      describedKeys: keys,
      addresses: addresses,
      maySend: !isHeld && (direction == SDP_SENDRECV || direction == SDP_SENDONLY),
      mayReceive: !isHeld && (direction == SDP_SENDRECV || direction == SDP_RECVONLY)
    )
    negotiated.requiredPacketMilliseconds = packetMilliseconds
    negotiated.otherEvent = events.dropFirst().first
    negotiated.others = others.map {
      negotiated.with($0.codec, sending: $0.remote, receiving: $0.local)
    }
    return negotiated
  }

  // Further codecs of an answer, as the two sides number them.
  @unsafe
  private func otherCodecs(
    than taken: UnsafePointer<sdp_format>,
    _ payloadType: CInt
  ) -> [(codec: OfferedCodec, remote: UInt8, local: UInt8)] {
    var found: [(codec: OfferedCodec, remote: UInt8, local: UInt8)] = []
    var last = unsafe Optional(taken)
    while found.count < OfferedCodec.allCases.count {
      var local: CInt = 0
      var name: UnsafePointer<CChar>?
      guard let next = unsafe re_description_agree(media, last, false, &local, &name),
        let name = unsafe name
      else { return found }
      unsafe last = next
      let codec = unsafe OfferedCodec(encodingName: String(cString: name))
      let isNew = local != payloadType && !found.contains { $0.local == local }
      guard let codec, isNew else { continue }
      let remote = unsafe UInt8(truncatingIfNeeded: next.pointee.pt)
      found.append((codec, remote, UInt8(truncatingIfNeeded: local)))
    }
    return found
  }

  private func remoteAddress(isControl: Bool) -> (host: String, port: UInt16)? {
    var text = [CChar](repeating: 0, count: 64)
    var port: UInt16 = 0
    let code =
      isControl
      ? unsafe re_remote_control_address(media, &text, text.count, &port)
      : unsafe re_remote_address(media, &text, text.count, &port)
    guard code == 0, port != 0 else { return nil }
    return (String(cStringBytes: text), port)
  }

  static func isUnspecified(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

  private static func isReachable(_ host: String) -> Bool {
    isUnspecified(host) || SocketAddress(host: host, port: 9)?.isUnicast == true
  }
}

extension String {
  /// The text before the first zero.
  init(cStringBytes bytes: [CChar]) {
    self.init(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// A counted string of libre's.
  @unsafe
  init(_ text: pl) {
    guard let start = unsafe text.p else {
      self = ""
      return
    }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: text.l)
    self.init(decoding: unsafe bytes.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
