import Foundation
import Testing

/// Whole calls between processes, in real time, as a user makes them.
@Suite(.waiting, .serialized)
struct CallTests {
  @Test func aRecordingHasBothSidesAndNobodyElseReadsIt() throws {
    let port = Bench.port()
    let folder = try Bench.folder()
    let said = folder.appendingPathComponent("said.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    let listener = try Bench.run([
      "listen", "--answer", "--once", "--listen", "127.0.0.1:\(port)", "--playback", "null",
      "--capture", "file:\(said.path)", "--json",
    ])
    #expect(listener.wait(for: "registered"))
    let recordings = folder.appendingPathComponent("recordings")
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(port)", "--listen", "127.0.0.1:0", "--headset", "null", "--keys",
      "--json", "--duration", "6", "--recordings", recordings.path,
    ])
    #expect(caller.wait(for: "secured"), "\(caller.output)")
    #expect(caller.wait(for: "connected"), "\(caller.output)")
    caller.press("r")
    #expect(caller.wait(for: "\"recording\""), "\(caller.output)")
    #expect(caller.wait(for: "\"recordingEnded\""), "\(caller.output)")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: recordings.path)
    let file = recordings.appendingPathComponent(try #require(names.first))
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let bytes = try [UInt8](Data(contentsOf: file))
    // Two channels, some five seconds; the far side is on the right.
    #expect(bytes[22] == 2 && bytes.count > 700_000, "\(bytes.count)")
    let pairs = stride(from: 44, to: bytes.count - 3, by: 4)
    let right = pairs.map {
      Int(Int16(truncatingIfNeeded: Int(bytes[$0 + 2]) | Int(bytes[$0 + 3]) << 8))
    }
    #expect((right.map(abs).max() ?? 0) > 3_000)
  }

  @Test(arguments: ["2.5", "5", "20", "60"])
  func everyFrameSizeCarriesSpeech(frame: String) throws {
    let options = ["--frame", frame, "--bitrate", "64000"]
    let pair = try Pair(duration: 6, listenerOptions: options, callerOptions: options)
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(try pair.bothHeardEachOther())
  }

  @Test(arguments: [
    ["--codecs", "pcmu"], ["--codecs", "pcma"], ["--dtx"], ["--noise-suppression"],
  ])
  func optionsCarrySpeech(options: [String]) throws {
    let pair = try Pair(duration: 6, callerOptions: options)
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(try pair.bothHeardEachOther())
  }

  @Test func callOverTCPCarriesSpeech() throws {
    let pair = try Pair(duration: 6, suffix: ";transport=tcp")
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(try pair.bothHeardEachOther())
  }

  @Test func interruptHangsUpProperly() throws {
    let pair = try Pair(duration: nil)
    #expect(pair.caller.wait(for: "\"stats\""))
    pair.caller.signal(SIGINT)
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(pair.listener.printed("the far side hung up"))
  }

  @Test func R34_killedFarSideEndsTheCallWithAClearReason() throws {
    let pair = try Pair(duration: nil)
    #expect(pair.listener.wait(for: "\"stats\""))
    pair.caller.signal(SIGKILL)
    #expect(pair.listener.waitForExit() == 1)
    #expect(pair.listener.printed("the far side is gone"))
  }

  @Test func secondCallerIsBusy() throws {
    let pair = try Pair(duration: nil)
    #expect(pair.caller.wait(for: "connected"))
    let second = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(pair.port)", "--headset", "null", "--json"])
    #expect(second.waitForExit() == 1)
    #expect(second.printed("\"reason\":\"busy\""))
    pair.caller.signal(SIGINT)
    #expect(pair.caller.waitForExit() == 0)
  }

  @Test func unansweredCallIsCancelledByInterrupt() throws {
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--once", "--json", "--listen", "127.0.0.1:\(port)", "--headset", "null"])
    #expect(listener.wait(for: "registered"))
    let caller = try Bench.run(["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--json"])
    #expect(listener.wait(for: "incoming"))
    #expect(caller.wait(for: "ringing"))
    caller.signal(SIGINT)
    #expect(caller.waitForExit() == 1)
    #expect(listener.waitForExit() == 1)
    #expect(!listener.printed("audioActivated"))
  }

  @Test func tenThousandHostileDatagramsChangeNothing() throws {
    let mediaPort = Bench.port()
    let pair = try Pair(duration: 12, listenerOptions: ["--rtp-port", "\(mediaPort)"])
    #expect(pair.caller.wait(for: "\"stats\""))
    let sent = try Bench.withSocket {
      HostileDatagrams.send(
        10_000,
        to: [UInt16(mediaPort), UInt16(pair.port)],
        from: $0,
        seed: 7
      )
    }
    #expect(sent > 9_000)
    #expect(pair.caller.waitForExit() == 0)
    #expect(pair.listener.waitForExit() == 0)
    #expect(try pair.bothHeardEachOther())
  }
}
