import CLibre
import CallSecurity
import ICE
import Testing
import UDPTransport

@testable import SIPSignalling

/// Offers of others, who number their formats as they like.
struct SessionDescriptionTests {
  private static let ours = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)

  private func answer(to formats: [String]) -> (media: NegotiatedMedia?, text: String) {
    guard let description = SessionDescription(Self.ours) else { return (nil, "") }
    let media = agree(description, on: "111 63", formats)
    return (media, text(description, asOffer: false))
  }

  private func agree(
    _ description: SessionDescription,
    on numbers: String,
    _ formats: [String],
    isOffer: Bool = true
  ) -> NegotiatedMedia? {
    let lines =
      [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
        "m=audio 5000 RTP/AVP \(numbers)",
      ] + formats
    let offer = Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    guard let body = unsafe re_buffer_from(offer, offer.count) else { return nil }
    defer { unsafe mem_deref(body) }
    return unsafe description.negotiate(with: body, isOffer: isOffer)
  }

  private func text(_ description: SessionDescription, asOffer isOffer: Bool) -> String {
    guard let encoded = unsafe description.encode(asOffer: isOffer) else { return "" }
    defer { unsafe mem_deref(encoded) }
    let bytes = unsafe UnsafeBufferPointer(start: encoded.pointee.buf, count: encoded.pointee.end)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  private static let opus = ["a=rtpmap:111 opus/48000/2"]

  private static let addresses = [
    "a=rtcp-mux", "a=ice-ufrag:8hhY", "a=ice-pwd:asd88fgpdd777uzjYhagZg",
    "a=candidate:1 1 UDP 2130706431 10.0.1.1 5000 typ host",
    "a=candidate:2 1 UDP 1694498815 127.0.0.1 5000 typ srflx raddr 10.0.1.1 rport 5000",
  ]

  private func checking() throws -> SessionDescription {
    var generator = SystemRandomNumberGenerator()
    let own = try #require(SocketAddress(host: "192.0.2.3", port: 4_000))
    let description = try #require(SessionDescription(Self.ours))
    description.addresses = ICEDescription(
      credentials: .random(using: &generator),
      candidates: [ICECandidate(.host, own, priority: 2_130_706_431)]
    )
    return description
  }

  @Test func addressesAreAnsweredIfTheyAreOffered() throws {
    let description = try checking()
    let media = try #require(agree(description, on: "111", Self.opus + Self.addresses))
    let agreed = try #require(media.addresses)
    #expect(agreed.credentials.password == "asd88fgpdd777uzjYhagZg" && !agreed.isLite)
    #expect(agreed.candidates.map(\.kind) == [.host, .serverReflexive])
    let answer = text(description, asOffer: false)
    #expect(answer.contains(" 1 UDP 2130706431 192.0.2.3 4000 typ host"))
    #expect(answer.contains("a=ice-ufrag:") && answer.contains("a=ice-pwd:"))
  }

  @Test("what no check can be made with is left alone", arguments: 0..<5)
  func uselessAddresses(kind: Int) throws {
    var lines = Self.addresses
    switch kind {
    // Something on the way has put its own address in place of the far side's.
    case 0: lines[4] = "a=candidate:2 1 UDP 1694498815 203.0.113.9 5000 typ srflx"
    case 1: lines[1] = "a=ice-ufrag:8h"
    case 2: lines[2] = "a=ice-pwd:short"
    case 3: lines[0] = "a=rtcp:5001"
    default: lines = []
    }
    let description = try checking()
    let media = try #require(agree(description, on: "111", Self.opus + lines))
    #expect(media.addresses == nil)
    #expect(!text(description, asOffer: false).contains("a=candidate"))
    // A side that checks nothing says nothing of it.
    let other = try #require(SessionDescription(Self.ours))
    #expect(agree(other, on: "111", Self.opus + Self.addresses)?.addresses == nil)
    #expect(!text(other, asOffer: false).contains("ice-"))
  }

  /// The voice's own component is checked, though RTCP has another one (RFC 8445 section 4).
  @Test func anAnswerWithoutMultiplexingIsChecked() throws {
    let description = try checking()
    _ = text(description, asOffer: true)
    let lines = Self.opus + ["a=rtcp:5001"] + Self.addresses[1...]
    let media = try #require(agree(description, on: "111", lines, isOffer: false))
    #expect(media.addresses?.candidates.count == 2)
    #expect(media.port == 5_000 && media.controlPort == 5_001)
  }

  /// The candidate with the far side's address in the description is looked for among the first
  /// 100.
  @Test(arguments: [(5, true), (40, true), (100, true), (101, false)])
  func ofThreeHundredAddressesSixteenAreRead(place: Int, isRead: Bool) throws {
    var lines = (1...300).map { line in
      "a=candidate:1 1 UDP \(3_000 - line) 10.0.\(line / 250).\(line % 250) 5000 typ host"
    }
    lines[place - 1] = Self.addresses[4]
    let description = try checking()
    let offer: [String] = Self.opus + Self.addresses.prefix(3) + lines
    let media = try #require(agree(description, on: "111", offer))
    guard isRead else {
      #expect(media.addresses == nil)
      return
    }
    let candidates = try #require(media.addresses).candidates
    #expect(candidates.count == (place > 15 ? 16 : 15))
    #expect(candidates.first?.address.host == "10.0.0.1")
    #expect(candidates.last?.address.host == "127.0.0.1")
  }

  /// Candidate lines of no use count towards the limit as well.
  @Test func addressesBehindAHundredLinesAreIgnored() throws {
    let useless = "a=candidate:1 1 TCP 3000 10.0.0.9 5000 typ host tcptype active"
    for (count, isRead) in [(98, true), (99, false)] {
      let lines = [String](repeating: useless, count: count) + Self.addresses.suffix(2)
      let offer: [String] = Self.opus + Self.addresses.prefix(3) + lines
      let description = try checking()
      let media = try #require(agree(description, on: "111", offer))
      #expect((media.addresses?.candidates.count == 2) == isRead, "\(count)")
    }
  }

  @Test func keysOfWhoKnowsThemAt8KilohertzOnlyGoWithOpus() throws {
    let events = ["a=rtpmap:101 telephone-event/8000", "a=rtpmap:100 telephone-event/48000"]
    func agreed(_ numbers: String, _ formats: [String]) throws -> NegotiatedMedia {
      let offer = MediaOffer(
        host: "127.0.0.1",
        port: 4_000,
        packetMilliseconds: 10,
        codecs: [.opus]
      )
      let description = try #require(SessionDescription(offer))
      let media = try #require(agree(description, on: "111 \(numbers)", Self.opus + formats))
      let answer = text(description, asOffer: false)
      for number in [101, 100] as [UInt8] {
        let agreed = [media.sendEventPayloadType, media.otherEvent?.sendPayloadType]
        #expect(answer.contains("a=rtpmap:\(number) ") == agreed.contains(number))
      }
      return media
    }
    let common = try agreed("101", [events[0]])
    #expect(common.sendEventPayloadType == 101 && common.eventClockRate == 8_000)
    let both = try agreed("101 100", events)
    #expect(both.sendEventPayloadType == 100 && both.eventClockRate == 48_000)
    let none = try agreed("", [])
    #expect(none.sendEventPayloadType == nil && none.receiveEventPayloadType == nil)
  }

  @Test func refusedOfferLeavesWhatWasAgreed() throws {
    let description = try #require(SessionDescription(Self.ours))
    #expect(agree(description, on: "111", Self.opus)?.codec == .opus)
    // Each one has a version of its own.
    func formats() -> [Substring] {
      text(description, asOffer: true).split(separator: "\r\n").filter { !$0.hasPrefix("o=") }
    }
    let before = formats()
    #expect(agree(description, on: "18", ["a=rtpmap:18 G729/8000"]) == nil)
    let after = formats()
    #expect(after == before && before.contains { $0.contains("opus") })
  }

  @Test func offerThatIsAskedForNamesEveryCodecAgain() throws {
    let description = try #require(SessionDescription(Self.ours))
    #expect(agree(description, on: "111", Self.opus)?.codec == .opus)
    #expect(!text(description, asOffer: true).contains("PCMU"))
    description.offerAllCodecs(isRequested: true)
    let offer = text(description, asOffer: true)
    #expect(offer.contains("a=rtpmap:111 opus") && offer.contains("PCMU"), "\(offer)")
    let media = agree(description, on: "0", [], isOffer: false)
    #expect(media?.codec == .pcmu && media?.sendPayloadType == 0)
  }

  private func numbers(_ description: SessionDescription) -> String {
    let lines = text(description, asOffer: true).split(separator: "\r\n")
    return lines.first { $0.hasPrefix("m=audio") }.map { String($0.dropFirst(21)) } ?? ""
  }

  /// An answer binds its own exchange: what it left out is offered again, with what is in use first
  /// (RFC 3264 section 8).
  @Test func nextOffersNameWhatAnAnswerLeftOut() throws {
    let description = try #require(SessionDescription(Self.ours))
    #expect(numbers(description) == "96 97 0 8 102 101")
    #expect(agree(description, on: "0", [], isOffer: false)?.codec == .pcmu)
    description.offerAllCodecs(isRequested: false)
    #expect(numbers(description) == "0 96 97 8 102 101")
    // One that is not answered is repeated as it was.
    description.offerAllCodecs(isRequested: false)
    #expect(numbers(description) == "0 96 97 8 102 101")
    #expect(agree(description, on: "0 101", [], isOffer: true)?.codec == .pcmu)
    description.offerAllCodecs(isRequested: true)
    #expect(numbers(description) == "96 97 0 8 102 101")
  }

  /// Numbers keep their meaning during a session (RFC 3264 section 8.3.2): where the far side has
  /// taken one, the format gets another, which the redundant payload names (RFC 2198 section 5).
  @Test func formatsWhoseNumberIsTakenGetAnother() throws {
    let description = try #require(SessionDescription(Self.ours))
    let events = ["a=rtpmap:96 telephone-event/8000"]
    #expect(agree(description, on: "8 96", events)?.sendEventPayloadType == 96)
    description.offerAllCodecs(isRequested: true)
    let offer = text(description, asOffer: true)
    #expect(numbers(description) == "98 97 0 8 102 96", "\(offer)")
    #expect(offer.contains("a=rtpmap:98 opus/48000/2") && offer.contains("a=fmtp:97 98/98"))
    let renumbered = try #require(SessionDescription(Self.ours))
    #expect(agree(renumbered, on: "111", Self.opus)?.codec == .opus)
    renumbered.offerAllCodecs(isRequested: true)
    #expect(text(renumbered, asOffer: true).contains("a=fmtp:97 111/111"))
  }

  @Test func copiesAreAnsweredWithTheNumbersOfTheOffer() {
    let (media, text) = answer(to: [
      "a=rtpmap:111 opus/48000/2", "a=fmtp:111 minptime=10;useinbandfec=1",
      "a=rtpmap:63 red/48000/2", "a=fmtp:63 111/111",
    ])
    #expect(media?.sendPayloadType == 111 && media?.receivePayloadType == 111)
    #expect(media?.sendRedundancyPayloadType == 63 && media?.receiveRedundancyPayloadType == 63)
    #expect(media?.shortestPacketMilliseconds == 10 && media?.largestBitrate == nil)
    #expect(text.contains("a=fmtp:63 111/111") && !text.contains("96/96"), "\(text)")
  }

  @Test func bandwidthIsNotTheAverageOfTheCodec() {
    let (media, _) = answer(to: [
      "b=AS:40", "a=rtpmap:111 opus/48000/2", "a=fmtp:111 maxaveragebitrate=64000",
    ])
    #expect(media?.bandwidth == 24_000 && media?.largestBitrate == 64_000)
  }

  @Test(arguments: [
    // Of another clock rate, another codec, an unknown codec.
    ["a=rtpmap:63 red/8000", "a=fmtp:63 111/111"], ["a=rtpmap:63 red/48000/2", "a=fmtp:63 0/0"],
    ["a=rtpmap:63 red/48000/2"],
  ])
  func copiesThatFitNothingAreLeftOut(redundancy: [String]) {
    let opus = ["a=rtpmap:111 opus/48000/2", "a=fmtp:111 maxaveragebitrate=24000"]
    let (media, _) = answer(to: opus + redundancy)
    #expect(media?.codec == .opus && media?.largestBitrate == 24_000)
    #expect(media?.sendRedundancyPayloadType == nil)
    #expect(media?.receiveRedundancyPayloadType == nil)
  }

  // MARK: Several lines, addresses and codecs

  private func answer(
    toLines lines: [String]
  ) -> (description: SessionDescription, media: NegotiatedMedia)? {
    let whole = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"] + lines
    let offer = Array((whole.joined(separator: "\r\n") + "\r\n").utf8)
    guard let body = unsafe re_buffer_from(offer, offer.count) else { return nil }
    defer { unsafe mem_deref(body) }
    return unsafe SessionDescription.answering(body, with: Self.ours, nil)
  }

  @Test func theLineThatCanBeTakenIsTaken() throws {
    let found = try #require(
      answer(toLines: [
        "c=IN IP4 127.0.0.1", "m=audio 5000 RTP/SAVP 0",
        "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz",
        "m=audio 0 RTP/AVP 8", "m=video 5002 RTP/AVP 96", "m=audio 5004 RTP/AVP 8",
      ])
    )
    #expect(found.media.codec == .pcma && found.media.port == 5_004)
    let lines = text(found.description, asOffer: false).split(separator: "\r\n")
      .filter { $0.hasPrefix("m=") }
    #expect(
      lines == [
        "m=audio 0 RTP/SAVP 0", "m=audio 0 RTP/AVP 0", "m=video 0 RTP/AVP 0",
        "m=audio 4000 RTP/AVP 8",
      ]
    )
  }

  @Test func theLastLineMayLackItsEnd() throws {
    let text = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
    let offer = Array((text + "m=audio 5000 RTP/AVP 0 12\r\na=rtpmap:0 PCMU/8000").utf8)
    let body = unsafe try #require(re_buffer_from(offer, offer.count))
    defer { unsafe mem_deref(body) }
    #expect(unsafe SessionDescription.answering(body, with: Self.ours, nil)?.media.codec == .pcmu)
  }

  @Test(arguments: [
    "IN IP4 media.example.invalid", "IN IP4 localhost", "IN IP6 fe80::1%lo",
    "IN IP4 224.2.36.42/127", "IN IP6 ff15::1",
  ])
  func whatIsNoAddressIsRefused(connection: String) {
    #expect(answer(toLines: ["c=\(connection)", "m=audio 5000 RTP/AVP 0"]) == nil)
    #expect(answer(toLines: ["m=audio 5000 RTP/AVP 0", "c=IN IP4 127.0.0.1"]) != nil)
  }

  @Test func addressThatIsYetToBeFoundIsNoHold() throws {
    let offer = ["c=IN IP4 0.0.0.0", "m=audio 9 RTP/AVP 0"]
    #expect(try #require(answer(toLines: offer)).media.maySend == false)
    let description = try checking()
    let lines = ["c=IN IP4 0.0.0.0", "a=rtcp-mux"] + Self.addresses[1...2]
    let media = try #require(agree(description, on: "111", Self.opus + lines))
    #expect(media.maySend && media.mayReceive && media.addresses?.candidates.isEmpty == true)
  }

  @Test func aLineKeepsItsName() throws {
    let found = answer(to: Self.opus + ["a=mid:audio0"])
    #expect(found.text.contains("a=mid:audio0\r\n"))
    #expect(!answer(to: Self.opus).text.contains("a=mid"))
  }

  /// Some phones fall silent at a second offer of encryption.
  @Test func anOpenCallGoesOnAsOne() throws {
    let fingerprint = try #require(Fingerprint(attribute: "sha-256 " + Self.print))
    var ours = Self.ours
    ours.encryption = EncryptionOffer(fingerprint: fingerprint, isRequired: false)
    ours.encryption?.mayDescribeKeys = true
    let description = try #require(SessionDescription(ours))
    let first = text(description, asOffer: true)
    #expect(first.contains("a=fingerprint") && first.contains("a=crypto"))
    #expect(agree(description, on: "96", ["a=rtpmap:96 opus/48000/2"], isOffer: false) != nil)
    let second = text(description, asOffer: true)
    #expect(!second.contains("a=fingerprint") && !second.contains("a=crypto"))
    // One that was offered openly has none at all.
    ours.encryption?.choice = .open
    let open = try text(#require(SessionDescription(ours)), asOffer: true)
    #expect(!open.contains("a=fingerprint") && !open.contains("a=crypto"))
  }

  private static let print = (0..<32).map { _ in "AB" }.joined(separator: ":")

  @Test func aPacketTimeThatIsRequiredIsOfferedAndKept() throws {
    var invitation = Invitation(
      uri: "",
      from: "",
      name: nil,
      user: "",
      routes: [],
      replaced: nil
    )
    let warning = "399 example.org \"ptime 5 is not supported\""
    #expect(invitation.nextPacketTime(after: 488, warning: "", offered: 5) == nil)
    #expect(invitation.nextPacketTime(after: 486, warning: warning, offered: 5) == nil)
    let times = [5, 20, 10].map {
      invitation.nextPacketTime(after: 488, warning: warning, offered: $0)
    }
    #expect(times == [20, 10, nil])
    invitation = Invitation(uri: "", from: "", name: nil, user: "", routes: [], replaced: nil)
    #expect(invitation.nextPacketTime(after: 606, warning: warning, offered: 20) == 10)
    let description = try #require(SessionDescription(Self.ours))
    description.setPacketTime(20)
    #expect(text(description, asOffer: true).contains("a=ptime:20\r\n"))
    let media = agree(description, on: "96", ["a=rtpmap:96 opus/48000/2"], isOffer: false)
    #expect(media?.requiredPacketMilliseconds == 20)
  }

  @Test func refusedFaxLeavesNothing() throws {
    let first = try #require(answer(toLines: ["c=IN IP4 127.0.0.1", "m=audio 5000 RTP/AVP 0"]))
    let fax = Array(
      """
      v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r
      m=audio 0 RTP/AVP 0\r\nm=image 5002 udptl t38\r\n
      """.utf8
    )
    let body = unsafe try #require(re_buffer_from(fax, fax.count))
    defer { unsafe mem_deref(body) }
    #expect(unsafe first.description.negotiate(with: body, isOffer: true) == nil)
    #expect(!text(first.description, asOffer: true).contains("m=image"))
  }

  /// RFC 3264 section 6.1.
  @Test func theFirstNumberOfACodecIsTaken() throws {
    let description = try #require(SessionDescription(Self.ours))
    let numbers = ["a=rtpmap:8 PCMA/8000", "a=rtpmap:121 PCMA/8000"]
    let media = try #require(agree(description, on: "8 121", numbers))
    #expect(media.sendPayloadType == 8 && media.receivePayloadType == 8 && media.others.isEmpty)
    #expect(text(description, asOffer: false).contains("RTP/AVP 8\r\n"))
  }

  @Test func anAnswerMayHaveSeveralCodecs() throws {
    let description = try #require(SessionDescription(Self.ours))
    _ = text(description, asOffer: true)
    let names = ["a=rtpmap:112 opus/48000/2", "a=rtpmap:101 telephone-event/8000"]
    let media = try #require(agree(description, on: "8 112 101 0", names, isOffer: false))
    #expect(media.codec == .pcma && media.others.map(\.codec) == [.opus, .pcmu])
    let opus = try #require(media.taking(96))
    #expect(opus.codec == .opus && opus.sendPayloadType == 112 && opus.receivePayloadType == 96)
    #expect(opus.others.map(\.codec) == [.pcmu, .pcma])
    #expect(opus.taking(8)?.codec == .pcma && opus.taking(96) == nil && media.taking(101) == nil)
    #expect(opus.taking(8)?.taking(96)?.alone == opus.alone, "back and forth it is the same")
    // Later offers have them all, and one that comes twice counts once.
    let offer = text(description, asOffer: true)
    #expect(offer.contains("RTP/AVP 96 0 8 101") || offer.contains("RTP/AVP 96 0 8 "), "\(offer)")
    let twice = try #require(SessionDescription(Self.ours))
    _ = text(twice, asOffer: true)
    let other = ["a=rtpmap:110 PCMU/8000"]
    let same = try #require(agree(twice, on: "0 110", other, isOffer: false))
    #expect(same.codec == .pcmu && same.others.isEmpty)
  }

  /// An offer may give G.711 another payload type, and the next one use the static one without a
  /// name.
  @Test func staticNumbersAreKnownAfterOthers() throws {
    let description = try #require(SessionDescription(Self.ours))
    let first = try #require(agree(description, on: "110 0", ["a=rtpmap:110 PCMU/8000"]))
    #expect(first.receivePayloadType == 110)
    let second = try #require(agree(description, on: "0", []))
    #expect(second.codec == .pcmu && second.receivePayloadType == 0)
    #expect(text(description, asOffer: false).contains("RTP/AVP 0\r\n"))
  }

  @Test func digitsAreAgreedOnAtBothRates() throws {
    let description = try #require(SessionDescription(Self.ours))
    let names = [
      "a=rtpmap:111 opus/48000/2", "a=rtpmap:110 telephone-event/48000",
      "a=rtpmap:126 telephone-event/8000",
    ]
    let media = try #require(agree(description, on: "111 110 126", names))
    #expect(media.receiveEventPayloadType == 110 && media.eventClockRate == 48_000)
    #expect(media.otherEvent?.receivePayloadType == 126 && media.otherEvent?.clockRate == 8_000)
    let answer = text(description, asOffer: false)
    #expect(answer.contains("a=rtpmap:110 telephone-event/48000"))
    #expect(answer.contains("a=rtpmap:126 telephone-event/8000"))
    let voice = media.with(.pcmu, sending: 0, receiving: 0)
    #expect(voice.receiveEventPayloadType == 126 && voice.eventClockRate == 8_000)
    #expect(voice.otherEvent?.receivePayloadType == 110)
  }
}
