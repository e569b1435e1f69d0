import Foundation
import Testing

/// Kamailio (Debian's kamailio and kamailio-tls-modules) with the configuration of Tests/Servers:
/// registrar and proxy of the domain `localhost`, where every password is "secret".
///
/// **Life cycle:** ready once it is made; stopped by `stop`, at the latest by `deinit`.
final class SIPServer {
  static let kamailio =
    FileManager.default.fileExists(
      atPath: "/usr/lib/x86_64-linux-gnu/kamailio/modules/tls.so"
    ) ? Bench.find("kamailio") : nil

  let folder: URL
  let host: String
  let port: Int
  private let run: ProgramRun
  private var isStopped = false

  /// File of the certificate authority that vouches for the server.
  var authority: String { folder.appendingPathComponent("authority.pem").path }

  /// Starts it with a certificate for `name` that is valid for so many days from now.
  ///
  /// With `launcher` it is started by another program, with its arguments, as in a namespace.
  init(
    certifiedAs name: String = "localhost",
    days: Int = 30,
    definitions: [String] = [],
    at host: String = "127.0.0.1",
    by launcher: [String] = []
  ) throws {
    self.host = host
    folder = try Bench.folder()
    port = Bench.port()
    try Self.certify(name, days: days, in: folder)
    let key = folder.appendingPathComponent("server.key").path
    let certificate = folder.appendingPathComponent("server.pem").path
    let configuration = folder.appendingPathComponent("tls.cfg").path
    try """
    [server:default]
    method = TLSv1.2+
    private_key = \(key)
    certificate = \(certificate)
    verify_certificate = no
    """.write(toFile: configuration, atomically: true, encoding: .utf8)
    let rules = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../Servers/kamailio.cfg").standardized.path
    let all =
      [
        "SIP_UDP=\(host):\(port)", "SIP_TCP=\(host):\(port)", "SIP_TLS=\(host):\(port + 1)",
        "DOMAIN=localhost", "TLS_CONFIGURATION=\"\(configuration)\"",
      ] + definitions
    // It has several processes, which are killed together.
    let command = try launcher + [#require(Self.kamailio)]
    run = try ProgramRun(
      command[0],
      command.dropFirst() + ["-f", rules, "-DD", "-E", "-Y", folder.path, "-m", "64", "-M", "8"]
        + all.flatMap { ["-A", $0] }
    )
    #expect(run.wait(for: "ready for calls"), "\(run.output)")
  }

  deinit {
    stop()
  }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    run.killGroup()
    _ = run.waitForExit()
  }

  /// A call between two accounts here, Alice's and Bob's: each hears the other.
  func carriesACall(over connection: String) throws {
    let alice = try account("alice", connection: connection)
    let aliceSaid = folder.appendingPathComponent("alice-said.wav")
    let bobSaid = folder.appendingPathComponent("bob-said.wav")
    let aliceHeard = folder.appendingPathComponent("alice-heard.wav")
    let bobHeard = folder.appendingPathComponent("bob-heard.wav")
    try Bench.speak(Bench.aliceText, voice: "en", to: aliceSaid)
    try Bench.speak(Bench.bobText, voice: "en+f3", to: bobSaid)
    let listener = try listen(
      as: "bob",
      connection: connection,
      ["--answer", "--once", "--capture", "file:\(bobSaid.path)"]
        + ["--playback", "file:\(bobHeard.path)"]
    )
    #expect(listener.wait(for: "\"account\":\"sip:bob@localhost\",\"at\""), "\(listener.output)")
    let caller = try Bench.run(
      [
        "call", "bob", "--json", "--duration", "8", "--capture", "file:\(aliceSaid.path)",
        "--playback", "file:\(aliceHeard.path)",
      ],
      environment: alice
    )
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    // The keys go from end to end, whatever the way of the signalling.
    #expect(caller.printed("\"keyExchange\":\"DTLS-SRTP\""))
    #expect(listener.printed("sip:alice@localhost"))
    #expect(try Bench.carries(aliceSaid, in: bobHeard))
    #expect(try Bench.carries(bobSaid, in: aliceHeard))
  }

  private static func certify(_ name: String, days: Int, in folder: URL) throws {
    let openssl = try #require(Bench.find("openssl"), "install openssl")
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    let kind = name.allSatisfy { $0.isNumber || $0 == "." } ? "IP" : "DNS"
    try "subjectAltName=\(kind):\(name)\n".write(
      toFile: path("names"),
      atomically: true,
      encoding: .utf8
    )
    let steps = [
      ["req", "-x509"] + key
        + ["-subj", "/CN=test", "-keyout", path("authority.key"), "-out", path("authority.pem")],
      ["req"] + key + ["-subj", "/CN=\(name)", "-keyout", path("server.key")]
        + ["-out", path("request.pem")],
      ["x509", "-req", "-in", path("request.pem"), "-CA", path("authority.pem")]
        + ["-CAkey", path("authority.key"), "-CAcreateserial", "-out", path("server.pem")]
        + ["-days", "\(days)", "-extfile", path("names")],
    ]
    for step in steps {
      let made = try ProgramRun(openssl, step)
      try #require(made.waitForExit() == 0, "\(made.output)")
    }
  }

  /// The environment of a user of its own, with an account at this server.
  func account(
    _ user: String,
    password: String = "secret",
    connection: String = "tls",
    trusting authority: String? = nil,
    isDiscovered: Bool = false,
    options: [String] = []
  ) throws -> [String: String] {
    let place = connection == "tls" ? port + 1 : port
    return try Self.account(
      user,
      in: folder,
      password: password,
      connection: connection,
      trusting: authority ?? self.authority,
      at: isDiscovered ? nil : "\(host == "127.0.0.1" ? "localhost" : host):\(place)",
      options: options
    )
  }

  /// A phone of a user of its own, registered here; a port of 0 is one that the system chooses.
  func listen(
    as user: String,
    at port: Int = 0,
    connection: String = "tls",
    _ options: [String]
  ) throws -> ProgramRun {
    let phone = try Bench.run(
      ["listen", "--account", "\(user)@localhost", "--listen", "127.0.0.1:\(port)", "--json"]
        + options,
      environment: account(user, connection: connection)
    )
    #expect(phone.wait(for: "\"seconds\":600"), "\(phone.output)")
    return phone
  }

  /// The environment of a user of its own, with an account at any server.
  static func account(
    _ user: String,
    in folder: URL,
    password: String = "secret",
    connection: String,
    trusting authority: String = "/dev/null",
    at server: String?,
    options: [String] = []
  ) throws -> [String: String] {
    let home = folder.appendingPathComponent(user).path
    let environment = [
      "XDG_DATA_HOME": home, "XDG_CONFIG_HOME": home, "SSL_CERT_FILE": authority,
      "DBUS_SESSION_BUS_ADDRESS": "",
    ]
    let add = try Bench.run(
      ["account", "add", "\(user)@localhost", "--connection", connection]
        + (server.map { ["--server", $0] } ?? []) + options,
      environment: environment
    )
    // A relay of another login has the same password.
    add.press(password + "\n" + password + "\n")
    try #require(add.waitForExit() == 0, "\(add.output)")
    return environment
  }
}
