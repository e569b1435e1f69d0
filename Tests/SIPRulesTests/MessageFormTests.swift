import ProgramRig
import Testing

@testable import SIPRules

/// The check of a message before libre decodes it: harmless lines at the limits, and beyond them.
struct MessageFormTests {
  private static func message(
    to: String = "<sip:bob@127.0.0.1>",
    _ headers: [String] = [],
    start: String = "OPTIONS sip:bob@127.0.0.1 SIP/2.0"
  ) -> String {
    let lines = [
      start, "Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1;rport", "To: \(to)",
      "From: \"A, <B>\" <sip:a@127.0.0.1>;tag=1", "Call-ID: 1", "CSeq: 1 OPTIONS",
    ]
    return (lines + headers + ["", ""]).joined(separator: "\r\n")
  }

  private static func form(_ text: String) -> MessageForm { MessageForm(ArraySlice(text.utf8)) }

  private static func letters(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test func messagesInOrderAreGood() {
    let long = Self.letters(3_000)
    let messages = [
      Self.message(), Self.message(to: "Bob the Builder <sip:bob@127.0.0.1>;tag=\(long)"),
      Self.message(to: "sip:\(long)@127.0.0.1"), Self.message(["Subject: \(long) \(long)"]),
      Self.message(["Contact: <sip:a@b;x=\(long)>, <sip:c@d>", "m: *"]),
      Self.message(["Record-Route: <sip:127.0.0.1;lr;ftag=\(Self.letters(200))>"]),
      Self.message(["Content-Type: application/sdp;charset=\(long)"]),
      Self.message(start: "INVITE sip:bob@127.0.0.1;x=\(long) SIP/2.0"),
      Self.message(start: "SIP/2.0 200 All right"), "\r\n\r\n" + Self.message(),
      Self.message(to: "<sip:bob@127.0.0.1>\r\n ;tag=2").replacing("\r\n", with: "\n"),
    ]
    for message in messages { #expect(Self.form(message) == .good, "\(message)") }
  }

  /// A value that libre would scan from each of its bytes may only be short.
  @Test(arguments: [240, 1_000, 8_000])
  func whatFitsNowhereMayBeShort(count: Int) {
    let word = Self.letters(count)
    let messages = [
      Self.message(to: "\(word) \(word)"), Self.message(["Content-Type: \(word);x"]),
      Self.message(["Contact: <sip:\(word)@;x>"]), Self.message(["CSeq: \(word) x"]),
      Self.message(["Refer-To: \(word):x@"]), Self.message(["t: \(word)\t\(word) <sip:a@b>"]),
    ]
    for message in messages {
      let isLittle =
        count < 256 && !message.contains("\(word) \(word)")
        && !message.contains("\(word)\t\(word)")
      #expect((Self.form(message) == .good) == isLittle, "\(message.prefix(80))")
    }
  }

  /// Lines that libre reads in unexpected ways are checked as well: harmless words just beyond the
  /// limit.
  @Test func formsThatTheLibraryReadsOtherwiseAreCounted() {
    let word = Self.letters(300)
    let values = ["x \(word) y", "x, \(word) ,y", "\"\" \(word) b\" c <sip:x@y>", "<> \(word) b"]
    let messages =
      values.map { Self.message(to: $0) } + [
        // Names with the number of To, From and Content-Type.
        Self.message(["bip: x \(word) y"]), Self.message(["lij: x \(word) y"]),
        Self.message(["uvz: \(word);x"]), Self.message(["To\r: x \(word) y"]),
        Self.message(["To\r\n : x \(word) y"]), Self.message(to: "<sip:;\(word):;>"),
        Self.message(start: "OPTIONS sip:;\(word):; SIP/2.0"),
        Self.message(start: "OPTIONS sip:bob@b x\r\(word)"),
        Self.message(start: "OPTIONS sip:bob@b SIP/2.0\r\n To: x \(word) y"),
        Self.message(["X: 1\r\n\r To: x \(word) y", "To: x \(word) y"]),
      ]
    for message in messages { #expect(Self.form(message) != .good, "\(message.prefix(90))") }
  }

  @Test func usualFormsPass() {
    let long = Self.letters(3_000)
    let messages = [
      Self.message([
        "P-Asserted-Identity: \"A, \\\"B\\\"\" <sip:a@b>, <tel:+431>", "Identity: \(long)",
      ]),
      Self.message(["Contact: sip:a@b;+sip.instance=\"<urn:uuid:1>\";methods=\"INVITE, ACK\""]),
      Self.message(["Contact: *"]), Self.message(to: "Bob\r\n <sip:bob@127.0.0.1>"),
    ]
    for message in messages { #expect(Self.form(message) == .good, "\(message.prefix(90))") }
  }

  @Test func partsSpacesAndNumbersAreBounded() {
    let many = String(repeating: "a, ", count: 600)
    let space = String(repeating: " ", count: 100)
    let wrong = [
      Self.message(["Allow: \(many)"]), Self.message(Array(repeating: "X: 1", count: 600)),
      Self.message(["To: x\(space)<sip:a@b>"]),
      Self.message(["CSeq: \(String(repeating: "1", count: 33)) OPTIONS"]),
      Self.message(start: Self.letters(200)), Self.message(start: "OPTIONS  sip:bob@b SIP/2.0"),
    ]
    for message in wrong { #expect(Self.form(message) == .wrong, "\(message.prefix(80))") }
  }

  @Test func headersThatHaveNotEndedAreWaitedFor() {
    let message = Self.message()
    for cut in 1..<message.utf8.count {
      let form = MessageForm(ArraySlice(message.utf8.prefix(cut)))
      #expect(form == .unfinished, "after \(cut) bytes")
    }
    #expect(Self.form(message + "v=0\r\n") == .good)
    #expect(Self.form("X: " + Self.letters(17_000)) == .wrong)
  }

  @Test func headersOfAnUnfinishedMessageAreReadOnce() {
    var waiting = WaitingMessages()
    let (one, other) = (Array("INVITE 1".utf8), Array("INVITE 2".utf8))
    waiting.note(7, one[...], needed: 20)
    let answers = [
      waiting.isWaiting(7, (one + [0])[...], 9), waiting.isWaiting(8, one[...], 9),
      waiting.isWaiting(7, (one + [0, 0])[...], 19), waiting.isWaiting(7, other[...], 9),
      waiting.isWaiting(7, one[...], 9),
    ]
    #expect(answers == [true, false, true, false, false], "another message in its place ends it")
    waiting.note(7, one[...], needed: 20)
    #expect(waiting.isWaiting(7, one[...], 20) == false, "it is whole")
    for place in 0..<2_000 { waiting.note(UInt(place), one[...], needed: 20) }
    let kept = (0..<2_000).filter { waiting.isWaiting(UInt($0), one[...], 9) }
    #expect(kept.count == 512)
  }

  /// The standards' own messages, of which the library reads the most.
  @Test(arguments: ["rfc4475", "rfc5118"])
  func messagesOfTheStandardsAreGood(standard: String) {
    let odd = TortureMessage.all(of: standard).filter { MessageForm(ArraySlice($0.bytes)) != .good }
    print("\(standard): not for the decoder: \(odd)")
    #expect(odd.count <= 3)
  }

  @Test func descriptionsAreBounded() {
    func isGood(_ lines: [String]) -> Bool {
      DescriptionForm.isGood(ArraySlice(lines.joined(separator: "\r\n").utf8))
    }
    let media = "m=audio 4000 RTP/AVP 0"
    #expect(isGood(["v=0", media, "a=identity:" + Self.letters(8_000), "a=sendrecv"]))
    #expect(!isGood(Array(repeating: "a=sendrecv", count: 501)))
    #expect(!isGood(Array(repeating: media, count: 17)))
    // What another medium says is not for the decoder.
    let video = ["m=video 4002 RTP/AVP 96", "a=fmtp:96 sprop-parameter-sets=" + Self.letters(900)]
    #expect(isGood([media] + video) && !isGood(video + [media, video[1]]))
    #expect(!isGood(video + ["m=  audio 4000 RTP/AVP 0", video[1]]))
    #expect(!isGood(["b=" + Self.letters(600)]) && !isGood(["a=rtpmap:" + Self.letters(600)]))
    #expect(!isGood(["a=" + Self.letters(600) + ":x"]) && !isGood(["a=:" + Self.letters(300)]))
  }
}
