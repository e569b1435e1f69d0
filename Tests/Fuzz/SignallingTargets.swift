import CLibre
import CallSecurity
import MediaCore
import SRTP
import UDPTransport
@testable import DigestAuthentication
@testable import ICE
@testable import SIPSignalling

private let isReady: Bool = {
  re_silence_debug()
  return libre_init() == 0
}()

/// Media descriptions of far sides: offers, answers, early media.
func fuzzDescriptions(_ bytes: [UInt8]) {
  guard isReady else { return }
  var source = ByteSource(bytes)
  let choice = source.byte()
  let text = source.rest()
  let fingerprint = Fingerprint(bytes: [UInt8](repeating: 7, count: 32))
  var encryption = fingerprint.map { EncryptionOffer(fingerprint: $0, isRequired: false) }
  if choice & 1 == 0 { encryption = nil }
  encryption?.mayDescribeKeys = choice & 2 != 0
  let offer = MediaOffer(
    host: "192.0.2.1",
    port: 9,
    packetMilliseconds: 10,
    encryption: encryption
  )
  for isOffer in [true, false] {
    guard let body = unsafe re_buffer_from(text, text.count) else { return }
    defer { _ = unsafe mem_deref(body) }
    if isOffer { _ = unsafe SessionDescription.preview(body, at: "::1", encryption: encryption) }
    guard let description = SessionDescription(offer) else { return }
    if choice & 4 != 0 {
      description.addresses = ICEDescription(credentials: .random(), candidates: [])
    }
    if choice & 8 != 0, !isOffer {
      _ = unsafe description.negotiateEarly(with: body)
      unsafe body.pointee.pos = 0
    }
    guard unsafe description.negotiate(with: body, isOffer: isOffer) != nil else { continue }
    let answer = unsafe description.encode(asOffer: !isOffer)
    _ = unsafe mem_deref(answer)
  }
}

/// Whole messages, and everything that this package reads from them.
func fuzzMessages(_ bytes: [UInt8]) {
  guard isReady else { return }
  var text = [CChar](repeating: 0, count: 512)
  var more = [CChar](repeating: 0, count: 512)
  var sequence: UInt32 = 0
  for isSent in [true, false] {
    _ = unsafe re_look_early(
      isSent,
      bytes,
      bytes.count,
      &text,
      text.count,
      &more,
      more.count,
      &sequence
    )
  }
  guard let buffer = unsafe re_buffer_from(bytes, bytes.count) else { return }
  defer { _ = unsafe mem_deref(buffer) }
  var decoded: UnsafeMutablePointer<sip_msg>?
  guard unsafe sip_msg_decode(&decoded, buffer) == 0, let message = unsafe decoded else { return }
  defer { _ = unsafe mem_deref(message) }
  var own = sa()
  _ = unsafe sa_set_str(&own, "192.0.2.1", 5_060)
  _ = unsafe UserAgent.caller(in: message)
  _ = unsafe UserAgent.assertedParty(in: message, mayBeNumber: true)
  _ = unsafe SIPCall.isIntervalTooShort(message)
  _ = unsafe re_registered_seconds(message, "alice", "\"<urn:uuid:1>\"", &own)
  _ = unsafe re_is_translated(message, &own)
  _ = unsafe re_service_route(message, 0, &text, text.count)
  unsafe re_challenge_realm(message, &text, text.count)
  unsafe re_replaced(message, &text, text.count)
  _ = DialogName(String(cStringBytes: text))
  _ = unsafe re_info_digit(message)
  _ = unsafe re_waiting_messages(message)
  var authentication: OpaquePointer?
  _ = unsafe sip_auth_alloc(&authentication, nil, nil, false)
  _ = unsafe sip_auth_authenticate(authentication, message)
  _ = unsafe mem_deref(UnsafeMutableRawPointer(authentication))
}

/// Connectivity checks, and an ICE agent that receives them.
func fuzzPaths(_ bytes: [UInt8]) {
  guard isReady, let host = SocketAddress(host: "192.0.2.1", port: 4_000),
    let peer = SocketAddress(host: "192.0.2.2", port: 4_002)
  else { return }
  var source = ByteSource(bytes)
  let credentials = ICECredentials(userFragment: "abcd", password: "0123456789012345678901")
  let others = ICECredentials(userFragment: "efgh", password: "0123456789012345678901")
  var agent = ICEAgent(
    source.byte() & 1 != 0 ? .controlling : .controlled,
    hosts: [host],
    credentials: credentials,
    tiebreaker: 7,
    randomness: SeededGenerator(seed: 1)
  )
  var now = MonotonicInstant(nanoseconds: 0)
  _ = agent.handle(.started, at: now)
  _ = agent.handle(
    .described(
      ICEDescription(
        credentials: others,
        candidates: [ICECandidate(.host, peer, priority: 1)]
      )
    ),
    at: now
  )
  for _ in 0..<16 where !source.isAtEnd {
    now = now.advanced(byNanoseconds: Int64(source.byte()) * 10_000_000)
    let chunk = source.chunk(limit: 1_500)
    _ = ICECandidate(attribute: String(decoding: chunk, as: UTF8.self))
    if let message = BindingMessage(chunk, own: agent.localPassword, other: agent.remotePassword) {
      _ = agent.handle(.received(message, from: peer, at: .socket), at: now)
    }
    _ = agent.handle(.timePassed, at: now)
  }
}

/// Text from users and other programs: links, addresses, numbers, targets of transfers.
func fuzzLinks(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  _ = SIPAddress(text)?.uri(atNumericHost: "192.0.2.1", by: .tls)
  _ = SIPAddress.isAnonymous(text)
  _ = SIPAddress.route(text)
  _ = DescriptionBody(Array(text.utf8), type: text.split(separator: "\n").first.map(String.init))
  _ = TransferTarget(referringTo: text)
  _ = DialogName(text)
  _ = DescribedKey(attribute: text)
  fuzzNumber(text)
}

/// Answers of name servers, and the SIP servers that they lead to.
func fuzzNames(_ bytes: [UInt8]) {
  guard isReady else { return }
  var source = ByteSource(bytes)
  let transports: [SIPTransport?] = [nil, .udp, .tcp, .tls]
  var locator = ServerLocator(
    host: "example.org",
    port: nil,
    transport: transports[Int(source.byte() % 4)]
  )
  var generator = SeededGenerator(seed: 7)
  for _ in 0..<32 where !source.isAtEnd {
    guard let question = locator.question else { break }
    let answer = source.chunk(limit: 1_000)
    switch question {
    case .namingAuthorities:
      locator.answer(
        unsafe records(DNS_TYPE_NAPTR, in: answer) { unsafe ServerLocator.NamingAuthority($0) }
      )
    case .services:
      locator.answer(
        unsafe records(DNS_TYPE_SRV, in: answer) { unsafe ServerLocator.Service($0) },
        using: &generator
      )
    case .addresses:
      // The C library reads those.
      locator.answer(addresses: answer.isEmpty ? [] : ["192.0.2.1", "2001:db8::1"])
    }
  }
  for server in locator.servers { _ = "\(server) \(server.route)" }
}

// The answers in a message, read as libre's client reads them.
@unsafe
private func records<Record>(
  _ type: Int,
  in bytes: [UInt8],
  _ read: (re_location) -> Record
) -> [Record] {
  guard let buffer = unsafe re_buffer_from(bytes, bytes.count) else { return [] }
  defer { _ = unsafe mem_deref(buffer) }
  var header = dnshdr()
  guard unsafe dns_hdr_decode(buffer, &header) == 0 else { return [] }
  for _ in 0..<header.nq {
    var name: UnsafeMutablePointer<CChar>?
    guard unsafe dns_dname_decode(buffer, &name, 0) == 0 else { return [] }
    _ = unsafe mem_deref(name)
    // Its type and its class.
    guard unsafe mbuf_get_left(buffer) >= 4 else { return [] }
    unsafe buffer.pointee.pos += 4
  }
  var answers = unsafe list()
  defer { unsafe list_flush(&answers) }
  for _ in 0..<header.nans {
    var record: UnsafeMutablePointer<dnsrr>?
    guard unsafe dns_rr_decode(buffer, &record, 0) == 0, let record = unsafe record else { break }
    unsafe list_append(&answers, &record.pointee.le, record)
  }
  var found = unsafe [re_location](repeating: re_location(), count: 32)
  let count = unsafe re_locations(&answers, UInt16(type), &found, found.count)
  return unsafe found.prefix(count).map(read)
}
