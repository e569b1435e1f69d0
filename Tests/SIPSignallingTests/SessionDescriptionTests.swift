import CRe
import Testing

@testable import SIPSignalling

/// Offers of others, who number their formats as they like.
struct SessionDescriptionTests {
  private func answer(to formats: [String]) -> (media: NegotiatedMedia?, text: String) {
    let lines =
      [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
        "m=audio 5000 RTP/AVP 111 63",
      ] + formats
    let offer = Array((lines.joined(separator: "\r\n") + "\r\n").utf8)
    let ours = MediaOffer(host: "127.0.0.1", port: 4_000, packetMilliseconds: 10)
    guard let description = SessionDescription(ours),
      let body = unsafe re_buffer_from(offer, offer.count)
    else { return (nil, "") }
    defer { unsafe mem_deref(body) }
    let media = unsafe description.agree(with: body, isOffer: true)
    guard let encoded = unsafe description.encode(asOffer: false) else { return (media, "") }
    defer { unsafe mem_deref(encoded) }
    let bytes = unsafe UnsafeBufferPointer(start: encoded.pointee.buf, count: encoded.pointee.end)
    return (media, unsafe String(decoding: bytes, as: UTF8.self))
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

  @Test(arguments: [
    // Of another clock, of another voice, of nobody knows what.
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
}
