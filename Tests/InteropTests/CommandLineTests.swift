import Foundation
import Testing

/// What goes wrong before a call: one clear line and the right exit status.
struct CommandLineTests {
  struct Mistake: Sendable, CustomTestStringConvertible {
    let arguments: [String]
    let status: Int32
    let words: String

    var testDescription: String { arguments.joined(separator: " ") }
  }

  static let target = "sip:bob@127.0.0.1:9"

  @Test(arguments: [
    Mistake(arguments: ["call"], status: 2, words: "address"),
    Mistake(arguments: ["--bogus"], status: 2, words: "Unknown option"),
    Mistake(arguments: ["call", target, "--frame", "7"], status: 2, words: "--frame is"),
    Mistake(arguments: ["call", target, "--bitrate", "1"], status: 2, words: "--bitrate is"),
    Mistake(
      arguments: ["call", target, "--listen", "nonsense"],
      status: 2,
      words: "HOST:PORT"
    ),
    Mistake(
      arguments: ["call", target, "--headset", "no-such-card"],
      status: 1,
      words: "there is no such device"
    ),
    Mistake(
      arguments: ["call", target, "--capture", "file:/no/such.wav", "--playback", "null"],
      status: 1,
      words: "there is no such file"
    ),
    Mistake(
      arguments: ["call", target, "--capture", "file:/etc/hostname", "--playback", "null"],
      status: 1,
      words: "not a WAV file"
    ),
    Mistake(
      arguments: ["call", target, "--capture", "null", "--playback", "file:/no/such/out.wav"],
      status: 1,
      words: "cannot record"
    ),
    Mistake(
      arguments: ["call", "sip:bob@no.such.host.invalid", "--headset", "null"],
      status: 1,
      words: "unknown host"
    ),
    Mistake(
      arguments: ["call", "bob", "--headset", "null"],
      status: 1,
      words: "not a SIP address"
    ),
    Mistake(
      arguments: ["call", target, "--headset", "null"],
      status: 1,
      words: "connection refused"
    ),
  ])
  func mistakesAreTold(mistake: Mistake) throws {
    let run = try Bench.run(mistake.arguments)
    #expect(run.waitForExit() == mistake.status)
    #expect(run.printed(mistake.words), "\(run.output)")
  }

  @Test func portInUseIsTold() throws {
    let port = Bench.port()
    let options = ["listen", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    let first = try Bench.run(options)
    #expect(first.wait(for: "Listening"))
    let second = try Bench.run(options)
    #expect(second.waitForExit() == 1)
    #expect(second.printed("cannot listen at 127.0.0.1:\(port)"))
    first.signal(SIGTERM)
    #expect(first.waitForExit() == 0)
  }

  @Test func devicesAndHelpSucceed() throws {
    for arguments in [["devices"], ["--help"], ["call", "--help"]] {
      #expect(try Bench.run(arguments).waitForExit() == 0)
    }
  }

  @Test func loopbackMeasuresTheVirtualHeadset() throws {
    let run = try Bench.run(["loopback", "--duration", "4", "--json"])
    #expect(run.waitForExit(seconds: 60) == 0)
    let result = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    )
    let median = try #require(result["medianMs"] as? Double)
    // Frame and look-ahead alone are 16.5 ms; a tenth of a second would be a fault.
    #expect(median > 16 && median < 100)
  }
}
