import Foundation
import ProgramRig
import Testing

/// A live call while strangers send as much as they can.
@Suite(.waiting, .serialized)
struct FloodTests {
  @Test func liveCallDoesNotNoticeAFlood() throws {
    let media = Bench.port()
    let pair = try Pair(duration: 24, listenerOptions: ["--rtp-port", "\(media)"])
    #expect(pair.caller.wait(for: "\"stats\""), "\(pair.caller.output)")
    let before = try ProcessHoldings(of: pair.listener.identifier)
    var flood = try Flood(from: "127.0.0.66", signalling: pair.port, media: media)
    flood.run(seconds: 6)
    let during = try ProcessHoldings(of: pair.listener.identifier)
    print(
      "flood: \(flood.invites) INVITEs, \(flood.datagrams) datagrams, \(flood.connections)",
      "connections; answers: \(flood.answers)"
    )
    // Ten seconds later everything is as it was.
    var none = pollfd(fd: -1, events: 0, revents: 0)
    _ = unsafe poll(&none, 0, 10_000)
    let after = try ProcessHoldings(of: pair.listener.identifier)
    print("before: \(before), during: \(during), after: \(after)")
    #expect(flood.answers["503"] ?? 0 > 1_000)
    #expect(flood.answers["200"] ?? 0 == 0, "a stranger's call took the live one's place")
    #expect(during.descriptors < before.descriptors + 200)
    #expect(after.descriptors <= before.descriptors + 2)
    #expect(after.threads <= before.threads + 2)
    #expect(after.megabytes <= before.megabytes + 16)
    #expect(pair.caller.waitForExit(seconds: 40) == 0, "\(pair.caller.output)")
    #expect(pair.listener.waitForExit() == 0, "\(pair.listener.output)")
    #expect(try pair.bothHeardEachOther())
  }

  /// Strangers ask as fast as they can what the phone can do.
  @Test func liveCallDoesNotNoticeQuestions() throws {
    let pair = try Pair(duration: 8)
    #expect(pair.caller.wait(for: "\"stats\""), "\(pair.caller.output)")
    try Bench.withBoundSocket(at: "127.0.0.66") { own, descriptor in
      let begin = ContinuousClock.now
      var answers = 0
      for number in 0..<10_000 {
        let text = [
          "OPTIONS sip:bob@127.0.0.1 SIP/2.0",
          "Via: SIP/2.0/UDP 127.0.0.66:\(own);branch=z9hG4bKq\(number)",
          "From: <sip:mallory@127.0.0.66>;tag=\(number)", "To: <sip:bob@127.0.0.1>",
          "Call-ID: question-\(number)", "CSeq: 1 OPTIONS", "Max-Forwards: 70",
          "Content-Length: 0", "", "",
        ]
        .joined(separator: "\r\n")
        _ = LoopbackSocket.send(Array(text.utf8), to: UInt16(pair.port), from: descriptor)
        // What comes back is not to fill the socket.
        if number % 20 == 0 { answers += LoopbackSocket.datagrams(at: descriptor, within: 0).count }
      }
      answers += LoopbackSocket.datagrams(at: descriptor, within: 0.5).count
      let seconds = (ContinuousClock.now - begin) / .seconds(1)
      #expect(answers >= 200 && Double(answers) <= 201 + 100 * seconds, "\(answers)")
    }
    #expect(pair.caller.waitForExit() == 0, "\(pair.caller.output)")
    #expect(pair.listener.waitForExit() == 0, "\(pair.listener.output)")
    #expect(try pair.bothHeardEachOther())
  }
}
