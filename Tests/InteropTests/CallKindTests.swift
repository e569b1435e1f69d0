import Foundation
import Testing

/// One real call of each kind, as a user makes them: what `make test` tries.
@Suite(.waiting)
struct CallKindTests {
  /// The default: by TLS, with keys that only the two have.
  @Test func callCarriesSpeechBothWaysAndEndsCleanly() throws {
    let pair = try Pair(duration: 6)
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(try pair.bothHeardEachOther())
    #expect(pair.caller.printed("\"encrypted\":true"), "\(pair.caller.output)")
    for name in ["ringing", "audioActivated", "connected", "stats", "ended", "audioDeactivated"] {
      #expect(pair.caller.printed("\"event\":\"\(name)\""), "\(name)")
    }
    #expect(pair.listener.printed("the far side hung up"))
  }

  @Test func callInTheOpenCarriesSpeech() throws {
    let open = ["--security", "off"]
    let pair = try Pair(duration: 6, listenerOptions: open, callerOptions: open)
    #expect(pair.caller.waitForExit() == 0, "\(pair.caller.output)")
    #expect(pair.listener.waitForExit() == 0, "\(pair.listener.output)")
    #expect(!pair.caller.printed("\"encrypted\":true"))
    #expect(try pair.bothHeardEachOther())
  }

  @Test func callByAccountCarriesSpeech() throws {
    guard SIPServer.kamailio != nil else { return Bench.skip("kamailio kamailio-tls-modules") }
    try SIPServer().carriesACall(over: "tls")
  }

  @Test func anEchoLineSaysBackWhatEachCallerSays() throws {
    let port = Bench.port()
    let folder = try Bench.folder()
    let line = try Bench.run(
      ["listen", "--answer", "--echo", "--listen", "127.0.0.1:\(port)", "--json", "--calls", "2"]
    )
    #expect(line.wait(for: "registered"))
    let callers = try ["one", "two"].map { name in
      let said = folder.appendingPathComponent("\(name)-said.wav")
      let heard = folder.appendingPathComponent("\(name)-heard.wav")
      try Bench.speak(name == "one" ? Bench.aliceText : Bench.bobText, voice: "en", to: said)
      let run = try Bench.run(
        [
          "call", "sip:echo@127.0.0.1:\(port)", "--listen", "127.0.0.1:0", "--duration", "7",
          "--json",
          "--capture", "file:\(said.path)", "--playback", "file:\(heard.path)",
        ]
      )
      return (run: run, said: said, heard: heard)
    }
    #expect(line.wait(for: "\"calls\":2"))
    // There is no room for a third.
    let third = try Bench.run(
      ["call", "sip:echo@127.0.0.1:\(port)", "--listen", "127.0.0.1:0", "--headset", "null"]
    )
    #expect(third.waitForExit() == 1)
    #expect(third.printed("busy"))
    for caller in callers {
      #expect(caller.run.waitForExit() == 0)
      #expect(try Bench.carries(caller.said, in: caller.heard))
    }
    #expect(line.wait(for: "\"calls\":0"))
    line.signal(SIGINT)
    #expect(line.waitForExit() == 0)
  }
}
