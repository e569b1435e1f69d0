import CLibre
import Foundation
import Glibc
import ProgramRig

@testable import SIPSignalling

/// A telephone of this machine that a test plays: it reads a caller's messages, and sends those of
/// the test, byte by byte.
///
/// **Thread safety:** one task at a time.
final class FarSide {
  /// Responses to an INVITE.
  enum Answer: String, CaseIterable, Sendable {
    case trying = "100 Trying"
    case ringing = "180 Ringing"
    /// With a description: early media, before the call is answered.
    case progress = "183 Session Progress"
    /// With a description.
    case taken = "200 OK"
    case moved = "302 Moved Temporarily"
    case challenge = "401 Unauthorized"
    case terminated = "487 Request Terminated"
  }

  private struct Connection {
    let descriptor: Int32
    var arrived: [UInt8] = []
    /// False once this side has ended its direction of the connection.
    var isOpen = true
  }

  let port: UInt16
  /// Requests of the caller so far.
  var requests: [String] = []
  /// True if each BYE is answered on arrival.
  var answersGoodbyes = true
  private let transport: SIPTransport
  /// Socket for UDP, or the one that accepts connections.
  private let descriptor: Int32
  private var connections: [Connection] = []
  /// Port at which the caller listens, from the Via header of its last request.
  private(set) var callerPort: UInt16 = 0
  private var questions = 0

  /// Time to wait for a message of the caller, in seconds.
  private static let patience = 120.0

  /// A telephone at a port that the system chooses, for UDP or TCP.
  init(_ transport: SIPTransport) throws {
    self.transport = transport
    let type = transport == .udp ? SOCK_DGRAM : SOCK_STREAM
    descriptor = socket(AF_INET, Int32(type.rawValue), 0)
    let isBound = LoopbackSocket.bind(descriptor, to: 0)
    port = LoopbackSocket.port(of: descriptor)
    guard isBound, transport == .udp || listen(descriptor, 8) == 0 else {
      throw RigError("no port for the far side")
    }
  }

  deinit {
    for connection in connections { close(connection.descriptor) }
    close(descriptor)
  }

  /// URI of this telephone.
  var uri: String { "sip:bob@127.0.0.1:\(port)\(parameter)" }

  /// URI that a redirection names; calls to it come here as well.
  var other: String { "sip:carol@127.0.0.1:\(port)\(parameter)" }

  private var parameter: String { transport == .udp ? "" : ";transport=\(transport.rawValue)" }

  // MARK: What it says

  /// A response to any request, with further headers and a body.
  func response(
    _ status: String,
    to request: String,
    _ headers: [String] = [],
    body: String = ""
  ) -> String {
    let copied = ["Via", "From", "To", "Call-ID", "CSeq"].map { name in
      let value = Self.header(name, of: request)
      return "\(name): \(value)" + (name == "To" && !value.contains(";tag=") ? ";tag=far" : "")
    }
    let length = "Content-Length: \(body.utf8.count)"
    return (["SIP/2.0 \(status)"] + copied + headers + [length, "", body])
      .joined(separator: "\r\n")
  }

  /// A response to an INVITE.
  func answer(_ answer: Answer, to invite: String) -> String {
    let dialog = [
      "Contact: <\(uri)>", "Record-Route: <sip:127.0.0.1:\(port)\(parameter);lr>",
      "Allow: INVITE, ACK, BYE, CANCEL, OPTIONS", "Supported: timer",
    ]
    let type = "Content-Type: application/sdp"
    let description = [
      "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0",
      "m=audio 4002 RTP/AVP 8 101", "a=rtpmap:8 PCMA/8000", "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-15", "a=ptime:20", "a=sendrecv", "",
    ]
    .joined(separator: "\r\n")
    let challenge =
      "Digest realm=\"example.org\", nonce=\"84f1c1ae6cbe5ua9c8e88dfa3ecm3459\", "
      + "opaque=\"1\", qop=\"auth\", algorithm=MD5"
    let (headers, body): ([String], String) =
      switch answer {
      case .trying, .terminated: ([], "")
      case .ringing: (dialog, "")
      case .progress: (dialog + [type], description)
      case .taken: (dialog + ["Session-Expires: 1800;refresher=uac", type], description)
      case .moved: (["Contact: <\(other)>"], "")
      case .challenge: (["WWW-Authenticate: \(challenge)"], "")
      }
    return response(answer.rawValue, to: invite, headers, body: body)
  }

  /// Sends a message.
  func send(_ message: String) throws { try send(Array(message.utf8)) }

  /// Sends the bytes of a message, which may be damaged.
  ///
  /// Once the caller's connection has ended they go over a new one to the caller (RFC 3261 section
  /// 18.2.2).
  func send(_ bytes: [UInt8]) throws {
    guard transport != .udp else {
      _ = LoopbackSocket.send(bytes, to: callerPort, from: descriptor)
      return
    }
    let open = try connections.first { $0.isOpen }?.descriptor ?? connectToCaller()
    // The caller may have ended it meanwhile.
    _ = unsafe Glibc.send(open, bytes, bytes.count, CInt(MSG_NOSIGNAL))
  }

  private func connectToCaller() throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    keep(descriptor)
    // Each comes from a host of its own: one may open few in a second.
    let host = "127.1.\(port >> 8).\(port & 0xFF)"
    guard LoopbackSocket.bind(descriptor, to: 0, at: host) else {
      throw RigError("no socket at \(host)")
    }
    LoopbackSocket.connect(descriptor, to: callerPort)
    return descriptor
  }

  private func keep(_ descriptor: Int32) {
    re_hasten(descriptor)
    connections.append(Connection(descriptor: descriptor))
  }

  /// Ends this side's direction of the caller's connection, and waits until the caller has
  /// processed everything sent over it.
  ///
  /// The rest of a connection that has carried a wrong Content-Length cannot be parsed. Does
  /// nothing if no connection is open.
  func endConnection() throws {
    guard let place = connections.firstIndex(where: \.isOpen) else { return }
    connections[place].isOpen = false
    shutdown(connections[place].descriptor, CInt(SHUT_WR))
    while try next() != nil {}
  }

  /// Waits until the caller has processed everything that was sent.
  func settle() throws {
    questions += 1
    let question = SIPQuestion(questions, by: transport.rawValue, from: port)
    try send(question.text)
    while true {
      if let message = try next(), question.isAnswered(in: message) { return }
    }
  }

  /// Challenges the REGISTER of an account, and accepts the one with credentials.
  func register() throws {
    try send(answer(.challenge, to: request("REGISTER")))
    while !requests.contains(where: Self.isAuthorizedRegistration) { _ = try next() }
    let request = requests.last(where: Self.isAuthorizedRegistration) ?? ""
    try send(response("200 OK", to: request, ["Expires: 600"]))
    try settle()
  }

  private static func isAuthorizedRegistration(_ request: String) -> Bool {
    request.hasPrefix("REGISTER ") && request.contains("Authorization: ")
  }

  // MARK: What the caller says

  /// Returns the first request of a method; waits for it if it has not arrived yet.
  @discardableResult
  func request(_ method: String) throws -> String {
    while true {
      if let found = requests.first(where: { $0.hasPrefix("\(method) ") }) { return found }
      _ = try next()
    }
  }

  /// Waits until the caller accepts an INVITE of this side, and returns the caller's tag in that
  /// dialog.
  func tagOfTakenInvite() throws -> String {
    while true {
      guard let answer = try next(), answer.hasPrefix("SIP/2.0 200 "),
        Self.header("CSeq", of: answer).hasSuffix("INVITE"),
        let tag = Self.header("To", of: answer).firstMatch(of: /;tag=([^;]+)/)
      else { continue }
      return String(tag.1)
    }
  }

  /// The last INVITE so far; nil if there is none.
  var lastInvite: String? { requests.last { $0.hasPrefix("INVITE ") } }

  // The next message; nil if it is a connection that has ended.
  private func next() throws -> String? {
    guard transport != .udp else {
      let bytes = LoopbackSocket.datagram(at: descriptor, within: Self.patience)
      guard let bytes else { throw RigError("the caller is silent") }
      return try note(bytes)
    }
    while true {
      for place in connections.indices {
        guard let length = Self.lengthOfMessage(in: connections[place].arrived) else { continue }
        let message = Array(connections[place].arrived.prefix(length))
        connections[place].arrived.removeFirst(length)
        return try note(message)
      }
      let sockets = [descriptor] + connections.map(\.descriptor)
      guard let ready = LoopbackSocket.ready(sockets, within: Self.patience).first else {
        throw RigError("the caller is silent")
      }
      guard let place = connections.firstIndex(where: { $0.descriptor == ready }) else {
        keep(accept(descriptor, nil, nil))
        continue
      }
      let bytes = LoopbackSocket.datagram(at: ready, within: 0) ?? []
      guard !bytes.isEmpty else {
        close(connections.remove(at: place).descriptor)
        return nil
      }
      connections[place].arrived += bytes
    }
  }

  private func note(_ bytes: [UInt8]) throws -> String {
    let message = String(decoding: bytes, as: UTF8.self)
    guard !message.hasPrefix("SIP/2.0 ") else { return message }
    requests.append(message)
    let named = Self.header("Via", of: message).firstMatch(of: /127\.0\.0\.1:([0-9]+)/)
    callerPort = named.flatMap { UInt16($0.1) } ?? callerPort
    if answersGoodbyes, message.hasPrefix("BYE ") { try send(response("200 OK", to: message)) }
    return message
  }

  private static func header(_ name: String, of message: String) -> String {
    let line = message.components(separatedBy: "\r\n").first { $0.hasPrefix("\(name): ") }
    return String(line?.dropFirst(name.count + 2) ?? "")
  }

  // Nil before the message is whole.
  private static func lengthOfMessage(in bytes: [UInt8]) -> Int? {
    guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    let text = String(decoding: bytes[..<head.upperBound], as: UTF8.self)
    let length = head.upperBound + (Int(header("Content-Length", of: text)) ?? 0)
    return length <= bytes.count ? length : nil
  }
}
