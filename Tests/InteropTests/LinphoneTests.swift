import Foundation
import ProgramRig
import Testing

/// Calls with Linphone's console program (Debian's linphone-cli), with encryption of each kind that
/// it has.
///
/// It plays a file instead of a microphone. It takes no TLS connections (release 5.1.65), so with
/// keys in the description it is the one that calls.
@Suite(.waiting, .serialized)
struct LinphoneTests {
  private static let linphone = Bench.find("linphonec")

  /// Starts it with a port for SIP, and with a file that it plays in a call.
  private func start(
    _ linphone: String,
    encryption: String,
    options: [String] = []
  ) throws -> (run: ProgramRun, port: Int, said: URL) {
    let folder = try Bench.folder()
    let data = folder.appendingPathComponent(".local/share/linphone")
    try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
    let said = folder.appendingPathComponent("said.wav")
    try Bench.speak(Bench.bobText + " " + Bench.aliceText, voice: "en", to: said)
    let port = Bench.port()
    let configuration = folder.appendingPathComponent("linphonerc")
    try """
    [sip]
    sip_port=\(port)
    sip_tcp_port=\(port)
    sip_tls_port=\(port + 1)
    contact=sip:lin@127.0.0.1
    guess_hostname=0
    use_ipv6=0
    ipv6_migration_done=1
    media_encryption=\(encryption)
    media_encryption_mandatory=1
    verify_server_certs=0
    verify_server_cn=0
    [rtp]
    audio_rtp_port=\(Bench.port())
    """.write(to: configuration, atomically: true, encoding: .utf8)
    let run = try ProgramRun(
      linphone,
      ["-c", configuration.path] + options,
      environment: ["HOME": folder.path]
    )
    #expect(run.wait(for: "linphonec>"), "\(run.output)")
    run.press("soundcard use files\nplay \(said.path)\n")
    // It asks for the next command once it has carried one out.
    #expect(run.wait(for: "linphonec>", times: 3), "\(run.output)")
    return (run, port, said)
  }

  @Test func weCall() throws {
    guard let linphone = Self.linphone else { return Bench.skip("linphone-cli") }
    let peer = try start(linphone, encryption: "dtls", options: ["-a"])
    let heard = try Bench.folder().appendingPathComponent("heard.wav")
    let caller = try Bench.run([
      "call", "sip:lin@127.0.0.1:\(peer.port);transport=tcp", "--duration", "9", "--json",
      "--security", "required", "--capture", "null", "--playback", "file:\(heard.path)",
    ])
    #expect(caller.waitForExit() == 0, "\(caller.output) \(peer.run.output)")
    #expect(caller.printed("\"keyExchange\":\"DTLS-SRTP\""))
    #expect(try Bench.carries(peer.said, in: heard), "\(caller.output) \(peer.run.output)")
    peer.run.signal(SIGKILL)
  }

  @Test(arguments: [("dtls", "tcp", "DTLS-SRTP"), ("srtp", "tls", "SDES")])
  func theyCall(encryption: String, transport: String, keyExchange: String) throws {
    guard let linphone = Self.linphone else { return Bench.skip("linphone-cli") }
    let port = Bench.port()
    let heard = try Bench.folder().appendingPathComponent("heard.wav")
    let listener = try Bench.run([
      "listen", "--answer", "--once", "--json", "--listen", "127.0.0.1:\(port)", "--duration", "9",
      "--security", "required", "--capture", "null", "--playback", "file:\(heard.path)",
    ])
    #expect(listener.wait(for: "registered"))
    let peer = try start(linphone, encryption: encryption)
    let far = transport == "tls" ? port + 1 : port
    peer.run.press("call sip:us@127.0.0.1:\(far);transport=\(transport)\n")
    // It has no certificate of its own, and asks for a password when it is asked for one.
    if transport == "tls" {
      let isAsked = { peer.run.printed("Password for") }
      #expect(Patience.waits { isAsked() || listener.printed("\"incoming\"") })
      if isAsked() { peer.run.press("none\n") }
    }
    #expect(listener.waitForExit() == 0, "\(listener.output) \(peer.run.output)")
    #expect(listener.printed("\"keyExchange\":\"\(keyExchange)\""))
    #expect(try Bench.carries(peer.said, in: heard))
    peer.run.signal(SIGKILL)
  }
}
