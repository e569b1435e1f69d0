import Foundation
import Testing

/// Mistakes that prevent a call: each gets one clear line and the right exit status.
@Suite(.waiting)
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
      words: "no sound file"
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
      words: "sidetone people"
    ),
    Mistake(
      arguments: ["call", target, "--headset", "null"],
      status: 1,
      words: "connection refused"
    ),
    Mistake(arguments: ["simulate", "--network", "no-such"], status: 2, words: "no network"),
    Mistake(arguments: ["simulate", "--python", "/no/python"], status: 1, words: "has no pesq"),
    Mistake(
      arguments: ["simulate", "--trace", "/etc/hostname"],
      status: 1,
      words: "line 1: neither two times"
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

  /// A capture in the classic format, little-endian, of bare IP: RTP every 20 ms, each tenth packet
  /// 40 ms late.
  private static func capture() -> Data {
    var file = Data()
    func append(_ values: UInt32...) {
      for value in values {
        for shift in [0, 8, 16, 24] { file.append(UInt8(value >> UInt32(shift) & 0xFF)) }
      }
    }
    append(0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 101)
    for index in 0..<500 {
      let late = index % 10 == 9 ? 40_000 : 0
      let microseconds = index * 20_000 + late
      append(UInt32(1_000 + microseconds / 1_000_000), UInt32(microseconds % 1_000_000), 44, 44)
      let ticks = index * 960
      let number = [UInt8(index >> 8), UInt8(index & 0xFF)]
      let time = [UInt8(0), UInt8(ticks >> 16), UInt8(ticks >> 8 & 0xFF), UInt8(ticks & 0xFF)]
      file.append(contentsOf: [0x45, 0, 0, 44, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2])
      file.append(contentsOf: [0x10, 0, 0x20, 0, 0, 24, 0, 0])
      file.append(contentsOf: [0x80, 96] + number + time + [0, 0, 0, 5, 8, 8, 8, 8])
    }
    return file
  }

  @Test func captureOfANetworkIsReplayed() throws {
    let file = try Bench.folder().appendingPathComponent("call.pcap")
    try Self.capture().write(to: file)
    let run = try Bench.run([
      "simulate", "--trace", file.path, "--duration", "20", "--frame", "20", "--complexity", "0",
      "--json",
    ])
    #expect(run.waitForExit() == 0)
    let result = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    )
    // What comes 40 ms late each tenth time is waited for.
    let target = try #require(result["targetMs"] as? Double)
    let concealed = try #require(result["concealedPercent"] as? Double)
    #expect(target > 30 && target < 80 && concealed < 2, "\(run.output)")
  }

  @Test func loopbackMeasuresTheVirtualHeadset() throws {
    let run = try Bench.run(["loopback", "--duration", "4", "--json"])
    #expect(run.waitForExit() == 0)
    let result = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    )
    let median = try #require(result["medianMs"] as? Double)
    // Frame and look-ahead alone are 16.5 ms; a tenth of a second would be a fault.
    #expect(median > 16 && median < 100)
  }

  @Test(arguments: ["2>&-", "2>/dev/full", "0<&- 1>&- 2>&-"])
  func aMessageThatCannotBeWrittenLeavesTheStatus(redirection: String) throws {
    let program = try #require(Bench.program)
    let run = try ProgramRun("/bin/sh", ["-c", "exec \"$0\" call \(redirection)", program])
    #expect(run.waitForExit() == 2)
  }

  @Test func noFileTakesThePlaceOfStandardError() throws {
    let program = try #require(Bench.program)
    let listen = "exec \"$0\" listen --headset null --listen 127.0.0.1:\(Bench.port()) 2>&-"
    let run = try ProgramRun("/bin/sh", ["-c", listen, program])
    #expect(run.wait(for: "Listening"), "\(run.output)")
    let place = "/proc/\(run.identifier)/fd/2"
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "/dev/null")
    run.signal(SIGTERM)
    #expect(run.waitForExit() == 0)
  }

  @Test func whatNohupStartsOutlivesItsTerminal() throws {
    let program = try #require(Bench.program)
    let port = Bench.port()
    let arguments = ["listen", "--answer", "--listen", "127.0.0.1:\(port)", "--headset", "null"]
    let run = try ProgramRun("/usr/bin/nohup", [program] + arguments)
    #expect(run.wait(for: "Listening"), "\(run.output)")
    run.signal(SIGHUP)
    let call = ["call", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--duration", "0.1"]
    #expect(try Bench.run(call).waitForExit() == 0, "\(run.output)")
    run.signal(SIGTERM)
    #expect(run.waitForExit() == 0)
  }
}
