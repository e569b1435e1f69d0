import Testing

@testable import SIPRules

struct AudioLinesTests {
  private func description(_ lines: String...) -> [UInt8] {
    let head = ["v=0", "o=- 1 1 IN IP4 192.0.2.1", "s=-", "c=IN IP4 192.0.2.1", "t=0 0"]
    return Array(((head + lines).joined(separator: "\r\n") + "\r\n").utf8)
  }

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func encryptedLinesComeFirstAndRefusedOnesNever() {
    let lines = AudioLines(
      description(
        "m=audio 4000 RTP/AVP 0",
        "m=video 4002 RTP/AVP 96",
        "m=audio 0 RTP/SAVP 0",
        "m=audio 4004 RTP/SAVP 0",
        "m=audio 4006 UDP/TLS/RTP/SAVPF 0"
      )
    )
    #expect(lines.candidates(for: "192.0.2.1").map(\.index) == [3, 4, 0])
  }

  @Test func othersAreHiddenAndShownAgain() {
    let whole = description(
      "m=audio 4000 RTP/SAVP 0",
      "m=audio 4002/2 RTP/AVP 8",
      "m=image 0 udptl t38"
    )
    let lines = AudioLines(whole)
    let hidden = lines.hidingAll(but: 2)
    #expect(text(hidden).contains("m=audio 4000 not-for-sidetone-RTP/SAVP 0\r\n"))
    #expect(
      text(hidden).contains("m=audio 4002/2 not-for-sidetone-RTP/AVP 8\r\n"),
      "there are two others"
    )
    // libre reads no number of ports.
    #expect(text(lines.hidingAll(but: 1)).contains("m=audio 4002 RTP/AVP 8\r\n"))
    #expect(AudioLines.showing(hidden) == whole)
    #expect(AudioLines.showing(whole) == whole)
  }

  /// Slips of phones that would make libre refuse the whole description.
  @Test func slipsAreMended() {
    let lines = AudioLines(
      description(
        "m=audio 4000 RTP/AVP 0 18",
        "c=IN IP4 192.0.2.7/127",
        "a=rtpmap:0 PCMU/8000 ",
        "a=fmtp:18",
        "a=",
        "a=fmtp:0 x=1"
      ) + [0, 0]
    )
    let read = description(
      "m=audio 4000 RTP/AVP 0 18",
      "c=IN IP4 192.0.2.7",
      "a=rtpmap:0 PCMU/8000",
      "a=fmtp:0 x=1"
    )
    #expect(text(lines.hidingAll(but: 0)) == text(read))
    // The address of a group stays one.
    let group = description("m=audio 4000 RTP/AVP 0", "c=IN IP4 224.2.1.1/127")
    #expect(AudioLines(group).hidingAll(but: 0) == group)
  }

  @Test func whatIsSaidOfOtherLinesIsLeftOut() {
    let lines = AudioLines(
      description(
        "m=audio 4000 RTP/AVP 0 12",
        "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:12 QCELP",
        "a=sendrecv",
        "m=video 4002 RTP/AVP 31",
        "c=IN IP4 192.0.2.7",
        "a=rtpmap:31 LPC"
      )
    )
    let read = description(
      "m=audio 4000 RTP/AVP 0 12",
      "a=rtpmap:0 PCMU/8000",
      "a=sendrecv",
      "m=video 4002 RTP/AVP 31"
    )
    #expect(lines.hidingAll(but: 0) == read)
  }

  @Test func aLineHasTheHostOfItsOwnOrOfTheDescription() {
    let lines = AudioLines(
      description(
        "m=audio 4000 RTP/AVP 0",
        "m=video 4002 RTP/AVP 96",
        "c=IN IP4 192.0.2.9",
        "m=audio 4004 RTP/AVP 0",
        "c=IN IP4 224.2.36.42/127"
      )
    )
    #expect(lines.candidates(for: "192.0.2.1").map(\.host) == ["192.0.2.1", "224.2.36.42"])
  }

  /// Of two lines that differ by their address family alone (RFC 4091) ours is taken.
  @Test func lineOfTheOwnFamilyComesFirst() {
    let lines = AudioLines(
      description(
        "m=audio 4000 RTP/AVP 0",
        "c=IN IP6 2001:db8::1",
        "m=audio 4004 RTP/AVP 0",
        "c=IN IP4 192.0.2.7"
      )
    )
    #expect(lines.candidates(for: "192.0.2.1").map(\.index) == [1, 0])
    #expect(lines.candidates(for: "2001:db8::2").map(\.index) == [0, 1])
  }

  /// libre ends a line at a CR, an LF or both.
  @Test func bandwidthOfALineLimitsItsVoice() {
    let lines = AudioLines(
      description(
        "b=AS:100",
        "m=audio 4000 RTP/AVP 0",
        "b=TIAS:24000",
        "b=AS:64",
        "m=audio 4002 RTP/AVP 0"
      )
    )
    // Without 16 kbit/s of headers.
    #expect(lines.candidates(for: "192.0.2.1").map(\.bitrate) == [24_000, 84_000])
    let nothing = description(
      "m=audio 4000 RTP/AVP 0",
      "b=AS:",
      "b=AS:-",
      "b=CT:64",
      "b=TIAS:x",
      "b=AS:-9223372036854775808",
      "b=TIAS:99999999999",
      "b=AS:0",
      "b=TIAS:0"
    )
    #expect(AudioLines(nothing).candidates(for: "192.0.2.1").map(\.bitrate) == [nil])
    let narrow = AudioLines(description("m=audio 4000 RTP/AVP 0", "b=AS:3"))
    #expect(narrow.candidates(for: "192.0.2.1").map(\.bitrate) == [1])
  }

  @Test(arguments: ["\r", "\n", "\r\n"]) func lineEndsAreOfAnyKind(end: String) {
    let lines = [
      "c=IN IP4 192.0.2.1", "m=audio 4000 RTP/AVP 0", "a=x", "m=audio 4002 RTP/AVP 8", "a=y",
    ]
    let whole = AudioLines(Array((lines.joined(separator: end) + end).utf8))
    #expect(whole.candidates(for: "192.0.2.1").map(\.index) == [0, 1])
    let read = [lines[0], "m=audio 4000 not-for-sidetone-RTP/AVP 0", lines[3], lines[4]]
    #expect(text(whole.hidingAll(but: 1)) == read.joined(separator: end) + end)
  }

  @Test(arguments: ["", "m=", "m=audio", "m=audio 4000 RTP/AVP", "c=", "m=audio  RTP/AVP 0\n"])
  func nonsenseHasNoLines(text: String) {
    let lines = AudioLines(Array(text.utf8))
    #expect(lines.usable.isEmpty && lines.hidingAll(but: 0) == Array(text.utf8))
  }
}
