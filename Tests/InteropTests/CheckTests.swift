import Foundation
import Testing

/// `sidetone check` on this machine, whatever it has.
@Suite(.waiting)
struct CheckTests {
  private func findings(_ run: ProgramRun) -> [String: String] {
    let lines = run.output.split(separator: "\n").compactMap { line in
      // What is no JSON is missing from the findings that are expected.
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
    return Dictionary(
      lines.map { ($0["subject"] as? String ?? "", $0["verdict"] as? String ?? "") }
    ) { first, _ in first }
  }

  @Test func machineAndWayAreChecked() throws {
    let port = Bench.port()
    let listener = try Bench.run(
      ["listen", "--json", "--headset", "null", "--listen", "127.0.0.1:\(port)"]
    )
    #expect(listener.wait(for: "registered"), "\(listener.output)")
    let check = try Bench.run(
      ["check", "sip:bob@127.0.0.1:\(port)", "--headset", "null", "--seconds", "3", "--json"]
    )
    #expect(check.waitForExit() == 0, "\(check.output)")
    let found = findings(check)
    for subject in ["real time", "memory lock", "sound server", "time", "ports", "firewall"] {
      #expect(found[subject] != nil, "\(check.output)")
    }
    for subject in ["periods", "clock drift", "identity", "test call", "way", "routers", "TLS"] {
      #expect(found[subject] == "good", "\(check.output)")
    }
    listener.signal(SIGINT)
    #expect(listener.waitForExit() == 0)
  }

  @Test func whatIsNotThereIsAFaultWithAdvice() throws {
    let check = try Bench.run(
      ["check", "sip:bob@127.0.0.1:\(Bench.port())", "--headset", "hw:31,0", "--json"]
    )
    #expect(check.waitForExit() == 1, "\(check.output)")
    let found = findings(check)
    #expect(found["headset"] == "fault", "\(check.output)")
    #expect(found["far side"] == "fault", "\(check.output)")
    #expect(check.printed("sidetone devices lists them"), "\(check.output)")
  }

  @Test func mistypedCommandGetsTheNearestOne() throws {
    let run = try Bench.run(["cal", "sip:x@1.1.1.1"])
    #expect(run.waitForExit() == 2)
    #expect(run.printed("there is no command \"cal\"; did you mean \"call\"?"), "\(run.output)")
  }
}
