import Foundation
import ProgramRig
import Testing

/// A live call while strangers send as much as they can.
@Suite(.waiting, .serialized)
struct FloodTests {
  /// Figures of a `stats` event, which comes once a second in a call; other events lack some of
  /// them.
  private struct Figures: Decodable {
    let seconds: Double
    let playoutDelayMs: Double
    let playbackFillMs: Double
    let concealedMs: Double

    /// Time from a packet's arrival to its sound, in milliseconds.
    var delay: Double { playoutDelayMs + playbackFillMs }
  }

  private static func figures(of party: Party) -> [Figures] {
    party.run.output.split(separator: "\n").compactMap { line in
      // Other events are passed over, and a line that is not whole yet.
      try? JSONDecoder().decode(Figures.self, from: Data(line.utf8))
    }
  }

  /// Prints delay and concealment before and in the flood.
  ///
  /// They depend on the machine as well, and are measured by `bench call`.
  private static func printSound(_ calm: [Figures], _ all: [Figures]) throws {
    let flooded = all.dropFirst(calm.count)
    let first = try #require(calm.last)
    let last = try #require(flooded.last)
    let before = calm.suffix(5).map(\.delay)
    let during = Percentiles(flooded.map(\.delay)).median
    let concealed = (last.concealedMs - first.concealedMs) / (last.seconds - first.seconds) / 10
    print("delay before: \(before) ms, in the flood: \(during) ms; \(concealed) % concealed")
  }

  /// Expects that a constant tone of `speaker` reaches `listener` for at least four fifths of the
  /// time.
  private static func expectNoPause(of speaker: Party, at listener: Party) throws {
    let heard = try listener.hears(speaker)
    let first = try #require(heard.firstIndex(of: true))
    let last = try #require(heard.lastIndex(of: true))
    let silent = heard[first...last].count { !$0 }
    let all = last - first
    #expect(all > 250 && silent <= all / 5, "\(silent) of \(all) tenths are silent")
  }

  @Test func liveCallDoesNotNoticeAFlood() throws {
    let (port, media) = (Bench.port(), Bench.port())
    let folder = try Bench.folder()
    // A folder that stays does no harm.
    defer { try? FileManager.default.removeItem(at: folder) }
    let bob = try Party(
      "bob",
      hertz: 800,
      in: folder,
      ["listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)", "--rtp-port", "\(media)"]
    )
    #expect(bob.event("registered"), "\(bob.run.output)")
    let alice = try Party(
      "alice",
      hertz: 500,
      in: folder,
      ["call", "sip:bob@127.0.0.1:\(port)", "--duration", "32"]
    )
    let parties = [alice, bob]
    for party in parties {
      let isCalm = party.run.wait(for: "\"event\":\"stats\"", times: 8)
      #expect(isCalm, "\(party.run.output)")
    }
    let before = try ProcessHoldings(of: bob.run.identifier)
    let calm = parties.map { Self.figures(of: $0) }
    var flood = try Flood(from: "127.0.0.66", signalling: port, media: media)
    flood.run(seconds: 8)
    let flooded = parties.map { Self.figures(of: $0) }
    let during = try ProcessHoldings(of: bob.run.identifier)
    print(
      "flood: \(flood.invites) INVITEs, \(flood.datagrams) datagrams, \(flood.connections)",
      "connections; answers: \(flood.answers)"
    )
    // Some seconds later everything is as it was.
    var after = during
    let isAsBefore = try Patience.waits {
      after = try ProcessHoldings(of: bob.run.identifier)
      return after.descriptors <= before.descriptors + 2 && after.threads <= before.threads + 2
    }
    print("before: \(before), during: \(during), after: \(after)")
    #expect(isAsBefore)
    #expect(flood.answers["503"] ?? 0 > 1_000)
    #expect(flood.answers["200"] ?? 0 == 0, "a stranger's call took the live one's place")
    #expect(during.descriptors < before.descriptors + 200)
    #expect(after.megabytes <= before.megabytes + 16)
    for (early, all) in zip(calm, flooded) { try Self.printSound(early, all) }
    #expect(alice.run.waitForExit() == 0, "\(alice.run.output)")
    #expect(bob.run.waitForExit() == 0, "\(bob.run.output)")
    try Self.expectNoPause(of: alice, at: bob)
    try Self.expectNoPause(of: bob, at: alice)
  }

  /// A known caller rings during the whole flood, by TLS, as the phone was called before, or by
  /// UDP.
  ///
  /// There are also a live call and a stranger who rings, and so has the last place.
  @Test(arguments: ["", ";transport=udp"])
  func knownCallerGetsThroughAFlood(suffix: String) throws {
    let (port, media) = (Bench.port(), Bench.port())
    let phone = try Bench.run(
      ["listen", "--answer", "--calls", "2", "--json", "--listen", "127.0.0.1:\(port)"]
        + ["--rtp-port", "\(media)", "--headset", "null", "--ringer", "none"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    func call(_ suffix: String) throws -> ProgramRun {
      try Bench.run(["call", "sip:bob@127.0.0.1:\(port)\(suffix)", "--json", "--headset", "null"])
    }
    let live = try call("")
    #expect(live.wait(for: "\"stats\""), "\(live.output)")
    var flood = try Flood(from: "127.0.0.66", signalling: port, media: media)
    flood.run(seconds: 1)
    #expect(phone.wait(for: "mallory"), "\(phone.output)")
    // The live call and the stranger's were reported. Ringing alone says little: 180 is sent before
    // the phone looks for room.
    func isReported() -> Bool {
      phone.output.components(separatedBy: "\"event\":\"incoming\"").count - 1 == 3
    }
    // As long as a caller waits by RFC 3261; each second of it is flooded.
    var caller = try call(suffix)
    for _ in 0..<30 where !isReported() {
      // A connection may fail on a machine that has no time; a user tries again.
      if caller.printed("\"ended\"") { caller = try call(suffix) }
      flood.run(seconds: 1)
    }
    #expect(isReported(), "\(caller.output)\(phone.output)")
    #expect(caller.wait(for: "\"ringing\""), "\(caller.output)")
    #expect(!caller.printed("\"ended\""), "\(caller.output)")
    let answers = flood.answers
    #expect(answers["503"] ?? 0 > 100, "\(answers)")
    #expect(live.hearsVoice(), "\(live.output)")
    caller.signal(SIGINT)
    #expect(caller.waitForExit() == 1, "\(caller.output)")
    live.signal(SIGINT)
    #expect(live.waitForExit() == 0, "\(live.output)")
    phone.signal(SIGINT)
    #expect(phone.waitForExit() != nil, "\(phone.output)")
  }

  /// Everything that arrives while the phone is stopped waits for it: 100 connections, and more
  /// datagrams than Linux queues for a program that does not ask for a larger buffer.
  @Test func phoneThatStandsStillForAMomentMissesNothing() throws {
    let port = Bench.port()
    let phone = try Bench.run(
      ["listen", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    phone.signal(SIGSTOP)
    // What comes back to one of them is little enough to wait as well.
    let askers = (0..<2).map { _ in socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }
    defer { for asker in askers { close(asker) } }
    for asker in askers { #expect(LoopbackSocket.bind(asker, to: 0)) }
    let subject = "Subject: " + String(repeating: "x", count: 200) + "\r\nMax-Forwards"
    for number in 0..<250 {
      let asker = askers[number % 2]
      let question = SIPQuestion(number, by: "udp", from: LoopbackSocket.port(of: asker))
      let text = question.text.replacing("Max-Forwards", with: subject)
      #expect(LoopbackSocket.send(Array(text.utf8), to: UInt16(port), from: asker))
    }
    let connections = (0..<100).map { _ in
      let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
      return socket(AF_INET, type, 0)
    }
    defer { for connection in connections { close(connection) } }
    for connection in connections { LoopbackSocket.connect(connection, to: UInt16(port + 1)) }
    let areMade = Patience.waits {
      var waiting = connections.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
      _ = unsafe poll(&waiting, nfds_t(waiting.count), 0)
      return waiting.allSatisfy { $0.revents == Int16(POLLOUT) }
    }
    phone.signal(SIGCONT)
    #expect(areMade)
    // Strangers get 200 at once; the system's usual room is for some 170 of these questions.
    let answers = askers.flatMap { LoopbackSocket.datagrams(at: $0, within: 3) }
    #expect(answers.count > 190, "\(answers.count)")
    phone.signal(SIGINT)
    #expect(phone.waitForExit() != nil, "\(phone.output)")
  }

  /// Header lines that libre scans from each of their bytes do not delay the questions between
  /// them.
  ///
  /// They are as long as what libre is given may be, or longer.
  @Test(arguments: [240, 4_000])
  func longWordsDelayNoOtherAnswer(letters: Int) throws {
    let port = UInt16(Bench.port())
    let phone = try Bench.run(
      ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(phone.wait(for: "registered"), "\(phone.output)")
    let word = String(repeating: "x", count: letters)
    let before = try phone.processorSeconds()
    var waits: [Double] = []
    try Bench.withBoundSocket(at: "127.0.0.68") { _, flooder in
      try Bench.withBoundSocket(at: "127.0.0.1") { own, asker in
        for round in 0..<50 {
          for number in 0..<20 {
            let text = [
              "OPTIONS sip:bob@127.0.0.1 SIP/2.0",
              "Via: SIP/2.0/UDP 127.0.0.68;branch=z9hG4bK\(round)-\(number)",
              "From: <sip:mallory@127.0.0.68>;tag=1", "To: x \(word)",
              "Call-ID: \(round)-\(number)", "CSeq: 1 OPTIONS", "Content-Length: 0", "", "",
            ]
            .joined(separator: "\r\n")
            _ = LoopbackSocket.send(Array(text.utf8), to: port, from: flooder)
          }
          let question = SIPQuestion(round, by: "udp", from: own)
          let begin = ContinuousClock.now
          _ = LoopbackSocket.send(Array(question.text.utf8), to: port, from: asker)
          let answer = try #require(LoopbackSocket.datagram(at: asker, within: Patience.limit))
          waits.append((ContinuousClock.now - begin) / .milliseconds(1))
          #expect(question.isAnswered(in: String(decoding: answer, as: UTF8.self)))
          _ = LoopbackSocket.datagrams(at: flooder, within: 0)
        }
      }
    }
    let spent = try phone.processorSeconds() - before
    let median = Percentiles(waits).median
    print("\(letters) letters: answers after \(median) ms, 1,000 messages took \(spent) s")
    // Before there was a look at them, one of 4,000 letters took 0.06 s.
    #expect(spent < 2)
    phone.signal(SIGINT)
    #expect(phone.waitForExit() != nil, "\(phone.output)")
  }

  /// A stranger sends OPTIONS requests as fast as it can.
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
