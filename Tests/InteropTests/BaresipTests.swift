import Foundation
import ProgramRig
import Testing

/// Calls with baresip (Debian's baresip-core).
///
/// When we call, its audio bridge sends back what it hears: what we hear of ourselves has been
/// decoded and encoded by the other program. When it calls, its bridge stays silent (a fault of
/// release 1.0.0), so it plays a file to us, and its own meter tells that it receives our audio.
@Suite(.waiting, .serialized)
struct BaresipTests {
  private struct Peer {
    let run: ProgramRun
    let port: Int
    let folder: URL
  }

  private func start(
    _ baresip: String,
    source: String = "aubridge,echo",
    commands: [String] = [],
    console: Int? = nil,
    encryption: String? = nil,
    hasTLS: Bool = false,
    seconds: Int = 25
  ) throws -> Peer {
    let folder = try Bench.folder()
    let port = Bench.port()
    let extra = encryption.map { _ in ["dtls_srtp", "srtp"] } ?? []
    let modules = (["opus", "g711", "aubridge", "aufile"] + extra).map { "module \($0).so" }
    var configuration =
      [
        "poll_method epoll", "sip_listen 127.0.0.1:\(port)", "audio_player aubridge,echo",
        "audio_source \(source)", "ausrc_srate 48000", "auplay_srate 48000",
        "module_path /usr/lib/baresip/modules",
      ] + modules + ["module_tmp account.so", "module_app menu.so"]
    if hasTLS {
      let certificate = folder.appendingPathComponent("tls.pem").path
      let openssl = try #require(Bench.find("openssl"), "install openssl")
      let made = try ProgramRun(
        openssl,
        [
          "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=bob", "-keyout",
          certificate, "-out", certificate + ".crt",
        ]
      )
      #expect(made.waitForExit() == 0, "\(made.output)")
      let parts = try [certificate, certificate + ".crt"].map {
        try String(contentsOfFile: $0, encoding: .utf8)
      }
      try parts.joined().write(toFile: certificate, atomically: true, encoding: .utf8)
      configuration.append("sip_certificate \(certificate)")
    }
    if let console {
      configuration += ["module cons.so", "cons_listen 127.0.0.1:\(console)"]
    }
    try configuration.joined(separator: "\n").write(
      to: folder.appendingPathComponent("config"),
      atomically: true,
      encoding: .utf8
    )
    let mediaEncryption = encryption.map { ";mediaenc=\($0)" } ?? ""
    try "<sip:bob@127.0.0.1:\(port)>;regint=0;answermode=auto\(mediaEncryption)\n".write(
      to: folder.appendingPathComponent("accounts"),
      atomically: true,
      encoding: .utf8
    )
    try "".write(to: folder.appendingPathComponent("contacts"), atomically: true, encoding: .utf8)
    let run = try ProgramRun(
      baresip,
      ["-f", folder.path, "-t", "\(seconds)"] + commands.flatMap { ["-e", $0] }
    )
    #expect(run.wait(for: "baresip is ready"), "\(run.output)")
    return Peer(run: run, port: port, folder: folder)
  }

  private func voice(_ folder: URL) throws -> (said: URL, heard: URL) {
    let said = folder.appendingPathComponent("said.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: said)
    return (said, folder.appendingPathComponent("heard.wav"))
  }

  @Test(arguments: [["--codecs", "opus"], ["--codecs", "pcma"]])
  func weCallAndHangUp(codecs: [String]) throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let peer = try start(baresip)
    let files = try voice(peer.folder)
    let caller = try Bench.run(
      [
        "call", "sip:bob@127.0.0.1:\(peer.port)", "--duration", "7", "--json",
        "--capture", "file:\(files.said.path)", "--playback", "file:\(files.heard.path)",
      ] + codecs
    )
    #expect(caller.waitForExit() == 0)
    #expect(peer.run.wait(for: "terminated"))
    #expect(try Bench.carries(files.said, in: files.heard))
    peer.run.signal(SIGKILL)
  }

  /// DTLS-SRTP, with a certificate made at each start: it is encrypted, and not recognized.
  @Test func weCallWithEncryption() throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let peer = try start(baresip, encryption: "dtls_srtp")
    let files = try voice(peer.folder)
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(peer.port)", "--duration", "7", "--json", "--security",
      "required", "--capture", "file:\(files.said.path)", "--playback",
      "file:\(files.heard.path)",
    ])
    #expect(caller.waitForExit() == 0, "\(caller.output) \(peer.run.output)")
    #expect(caller.printed("\"encrypted\":true") && caller.printed("\"known\":false"))
    #expect(
      try Bench.carries(files.said, in: files.heard),
      "\(caller.output) \(peer.run.output)"
    )
    peer.run.signal(SIGKILL)
    // The next time it has another certificate, and that is no fault.
    let next = try start(baresip, encryption: "dtls_srtp")
    let again = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(next.port)", "--duration", "1", "--json", "--headset", "null",
    ])
    #expect(again.waitForExit() == 0 && again.printed("\"encrypted\":true"))
    next.run.signal(SIGKILL)
  }

  /// Keys in the description are offered over TLS, and nowhere else.
  ///
  /// baresip asks for them, or insists on them.
  @Test(arguments: ["srtp", "srtp-mand"])
  func weCallWithDescribedKeys(method: String) throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let peer = try start(baresip, encryption: method, hasTLS: true)
    let files = try voice(peer.folder)
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(peer.port)", "--duration", "7", "--json",
      "--capture", "file:\(files.said.path)", "--playback", "file:\(files.heard.path)",
    ])
    #expect(caller.waitForExit() == 0, "\(caller.output) \(peer.run.output)")
    #expect(caller.printed("\"keyExchange\":\"SDES\""))
    #expect(try Bench.carries(files.said, in: files.heard))
    peer.run.signal(SIGKILL)
  }

  @Test(arguments: ["srtp", "srtp-mand"])
  func theyCallWithDescribedKeys(method: String) throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let port = Bench.port()
    let listener = try Bench.run([
      "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)", "--headset",
      "null", "--duration", "4",
    ])
    #expect(listener.wait(for: "registered"))
    let peer = try start(
      baresip,
      commands: ["/dial sip:us@127.0.0.1:\(port + 1);transport=tls"],
      encryption: method,
      hasTLS: true
    )
    #expect(listener.wait(for: "connected"), "\(peer.run.output)")
    #expect(listener.wait(for: "\"keyExchange\":\"SDES\""))
    #expect(listener.wait(for: "\"stats\""))
    #expect(listener.waitForExit() == 0)
    peer.run.signal(SIGKILL)
  }

  @Test func theyCallWithEncryption() throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let port = Bench.port()
    let listener = try Bench.run([
      "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)", "--security",
      "required", "--headset", "null", "--duration", "4",
    ])
    #expect(listener.wait(for: "registered"))
    let peer = try start(
      baresip,
      commands: ["/dial sip:us@127.0.0.1:\(port)"],
      encryption: "dtls_srtp"
    )
    #expect(listener.wait(for: "connected"))
    #expect(listener.wait(for: "\"encrypted\":true"))
    #expect(listener.wait(for: "\"stats\""))
    #expect(listener.waitForExit() == 0)
    #expect(peer.run.wait(for: "terminated"))
    peer.run.signal(SIGKILL)
  }

  /// A call to baresip without encryption is made and reported as such, unless that is forbidden.
  @Test func anOpenCallHasToBeAllowed() throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let peer = try start(baresip)
    let address = "sip:bob@127.0.0.1:\(peer.port)"
    let open = try Bench.run(["call", address, "--duration", "1", "--json", "--headset", "null"])
    #expect(open.waitForExit() == 0 && open.printed("\"encrypted\":false"))
    let refused = try Bench.run([
      "call", address, "--duration", "1", "--json", "--headset", "null", "--security", "required",
    ])
    #expect(refused.waitForExit() == 1 && !refused.printed("\"stats\""))
    peer.run.signal(SIGKILL)
  }

  /// DTMF digits are exchanged with baresip, which counts their durations at 8 kHz whatever the
  /// codec is, and reports each digit received.
  @Test(arguments: ["opus", "pcma"])
  func keysAreHeardOnBothSides(codec: String) throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let console = Bench.port()
    let peer = try start(baresip, console: console)
    let caller = try Bench.run([
      "call", "sip:bob@127.0.0.1:\(peer.port)", "--codecs", codec, "--headset", "null", "--json",
      "--keys",
    ])
    #expect(caller.wait(for: "\"stats\""))
    caller.press("5#")
    // "received event" in release 1.0, "received in-band DTMF event" in 1.1.
    #expect(peer.run.wait(for: "event: '5'"), "\(peer.run.output)")
    #expect(peer.run.wait(for: "event: '#'"), "\(peer.run.output)")
    let isSent = try Bench.withSocket { LoopbackSocket.send([0x37], to: UInt16(console), from: $0) }
    #expect(isSent)
    #expect(caller.wait(for: "\"key\":\"7\""))
    caller.press("h")
    #expect(caller.waitForExit() == 0)
    #expect(caller.output.components(separatedBy: "\"event\":\"key\"").count == 2)
    peer.run.signal(SIGKILL)
  }

  @Test func weCallAndTheyHangUp() throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    // When its time is up baresip says goodbye to its calls.
    let peer = try start(baresip, seconds: 6)
    let caller = try Bench.run(
      ["call", "sip:bob@127.0.0.1:\(peer.port)", "--headset", "null", "--json"])
    #expect(caller.wait(for: "\"stats\""))
    #expect(caller.waitForExit() == 0)
    #expect(caller.printed("the far side hung up"))
  }

  @Test(arguments: [true, false])
  func theyCall(weHangUp: Bool) throws {
    guard let baresip = Bench.baresip else { return Bench.skip("baresip-core") }
    let port = Bench.port()
    let folder = try Bench.folder()
    let theySaid = folder.appendingPathComponent("they-said.wav")
    let heard = folder.appendingPathComponent("heard.wav")
    let mono = folder.appendingPathComponent("mono.wav")
    try Bench.speak(Bench.bobText + " " + Bench.aliceText, voice: "en", to: mono)
    let sox = try #require(Bench.find("sox"), "install sox")
    let widened = try ProgramRun(sox, [mono.path, "-r", "48000", "-c", "2", theySaid.path])
    #expect(widened.waitForExit() == 0)
    let listener = try Bench.run(
      [
        "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)",
        "--capture", "file:\(mono.path)", "--playback", "file:\(heard.path)",
      ] + (weHangUp ? ["--duration", "9"] : [])
    )
    #expect(listener.wait(for: "registered"))
    let peer = try start(
      baresip,
      source: "aufile,\(theySaid.path)",
      commands: ["/dial sip:us@127.0.0.1:\(port)"],
      seconds: weHangUp ? 25 : 11
    )
    #expect(listener.wait(for: "connected"))
    #expect(listener.waitForExit() == 0)
    #expect(peer.run.wait(for: "terminated"))
    if !weHangUp { #expect(listener.printed("the far side hung up")) }
    #expect(try Bench.carries(theySaid, in: heard))
    // Its meter: bits per second sent and received.
    let meter = peer.run.output.matches(of: /audio=\d+\/(\d+)/).compactMap { Int($0.1) }.max()
    #expect((meter ?? 0) > 20_000)
    peer.run.signal(SIGKILL)
  }
}
