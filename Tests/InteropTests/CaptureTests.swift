import Foundation
import MediaCore
import ProgramRig
import Testing

/// The laboratory's commands on captures and recordings, as files.
@Suite(.waiting)
struct CaptureTests {
  /// A capture in the classic format of bare IP: two directions of G.711, of which the received one
  /// has jitter and losses.
  private static func capture(seconds: Int = 20) -> Data {
    var frames: [(at: Int, bytes: [UInt8])] = []
    var random = SeededGenerator(seed: 8)
    for isOutgoing in [false, true] {
      for number in 0..<seconds * 50 {
        let isLost = !isOutgoing && Double.random(in: 0...1, using: &random) < 0.05
        let jitter = isOutgoing ? 0 : Int.random(in: 0...15_000, using: &random)
        guard !isLost else { continue }
        let (one, other): ([UInt8], [UInt8]) = ([192, 0, 2, 10], [192, 0, 2, 20])
        let ports: [UInt8] = isOutgoing ? [0x75, 0x30, 0x9C, 0x40] : [0x9C, 0x40, 0x75, 0x30]
        let ticks = number * 160
        let rtp =
          [0x80, 0, UInt8(number >> 8), UInt8(number & 255)]
          + [0, UInt8(ticks >> 16), UInt8(ticks >> 8 & 255), UInt8(ticks & 255)]
          + [0, 0, 0, isOutgoing ? 9 : 7] + [UInt8](repeating: 0x55, count: 160)
        let ip =
          [0x45, 0, 0, 200, 0, 0, 0x40, 0, 64, 17, 0, 0]
          + (isOutgoing ? other + one : one + other) + ports + [0, 180, 0, 0] + rtp
        frames.append((number * 20_000 + jitter, ip))
      }
    }
    var file = Data()
    func append(_ values: Int...) {
      for value in values {
        for shift in [0, 8, 16, 24] { file.append(UInt8(value >> shift & 0xFF)) }
      }
    }
    append(0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 101)
    for (at, bytes) in frames.sorted(by: { $0.at < $1.at }) {
      append(1_000 + at / 1_000_000, at % 1_000_000, bytes.count, bytes.count)
      file.append(contentsOf: bytes)
    }
    return file
  }

  private func write() throws -> String {
    let file = try Bench.folder().appendingPathComponent("call.pcap")
    try Self.capture().write(to: file)
    return file.path
  }

  /// Packets, losses, jitter and the longest pause are Wireshark's.
  @Test func figuresAreThoseOfTshark() throws {
    guard let tshark = Bench.find("tshark") else { return Bench.skip("tshark") }
    let file = try write()
    let other = try ProgramRun(
      tshark,
      ["-r", file, "-n", "-o", "rtp.heuristic_rtp:TRUE", "-q", "-z", "rtp,streams"]
    )
    #expect(other.waitForExit() == 0, "\(other.output)")
    let rows = other.output.split(separator: "\n").map {
      $0.split(separator: " ", omittingEmptySubsequences: true)
    }
    let own = try Bench.run(["analyse", file, "--json"])
    #expect(own.waitForExit() == 0, "\(own.output)")
    let streams = try own.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(streams.count == 2)
    for stream in streams {
      let ssrc = String(format: "0x%08x", try #require(stream["ssrc"] as? Int))
      let row = try #require(rows.first { $0.contains { $0.lowercased() == ssrc } })
      let place = try #require(row.firstIndex { $0.lowercased() == ssrc })
      // SSRC, payload, packets, lost, (share), deltas, jitters: least, mean, most.
      let numbers = row[(place + 2)...].map {
        Double($0.trimmingCharacters(in: .init(charactersIn: "()%"))) ?? .nan
      }
      #expect(stream["packets"] as? Int == Int(numbers[0]), "\(row)")
      #expect(stream["lost"] as? Int == Int(numbers[1]), "\(row)")
      func figure(_ name: String) -> Double { stream[name] as? Double ?? .nan }
      #expect(abs(figure("longestPauseMs") - numbers[5]) < 0.1, "\(row)")
      #expect(abs(figure("jitterMeanMs") - numbers[7]) < 0.02, "\(row)")
      #expect(abs(figure("jitterMaxMs") - numbers[8]) < 0.02, "\(row)")
    }
  }

  /// Swift's hashes differ from run to run, and the figures do not depend on them.
  @Test func theSameFilesGiveTheSameFigures() throws {
    let file = try write()
    let said = try Bench.folder().appendingPathComponent("said.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    for arguments in [
      ["analyse", file], ["analyse", file, "--json"], ["compare", said.path, said.path],
      ["simulate", "--trace", file, "--speech", said.path, "--duration", "5", "--one-way"],
    ] {
      let outputs = try (0..<3).map { _ in
        let run = try Bench.run(arguments)
        #expect(run.waitForExit() == 0, "\(run.output)")
        return run.output
      }
      #expect(Set(outputs).count == 1, "\(outputs)")
    }
  }

  /// A pipe gives the same figures as the file.
  @Test(arguments: ["-", "/dev/stdin"]) func aPipeIsRead(name: String) throws {
    let file = try write()
    let plain = try Bench.run(["analyse", file, "--json"])
    #expect(plain.waitForExit() == 0, "\(plain.output)")
    let program = try #require(ProgramUnderTest.url).path
    func shell(_ line: String) throws -> ProgramRun {
      try ProgramRun("/bin/sh", ["-c", line, "sh", file, program, name])
    }
    let piped = try shell(#"cat "$1" | "$2" analyse "$3" --json"#)
    #expect(piped.waitForExit() == 0, "\(piped.output)")
    #expect(piped.output == plain.output)
    let other = try shell(#"echo nothing | "$2" analyse "$3""#)
    #expect(other.waitForExit() == 1 && other.printed("\"\(name)\" is no capture"))
  }

  @Test func theReceivedStreamIsTakenAndNamed() throws {
    let file = try write()
    let run = try Bench.run([
      "simulate", "--trace", file, "--duration", "2", "--complexity", "0",
    ])
    #expect(run.waitForExit() == 0, "\(run.output)")
    #expect(run.printed("192.0.2.10:40000 to 192.0.2.20:30000, SSRC 0x00000007, PCMU at 8000 Hz"))
    let other = try Bench.run(["simulate", "--trace", file, "--duration", "2", "--stream", "77"])
    #expect(other.waitForExit() == 1 && other.printed("has no stream 77"), "\(other.output)")
  }
}
