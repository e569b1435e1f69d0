import Foundation

/// An OPTIONS request outside of calls, whose answer comes after those to everything sent before
/// it.
package struct SIPQuestion: Sendable {
  /// The request.
  package let text: String
  private let name: String

  /// A question by `udp`, `tcp` or `tls` whose answer goes to a port; the number tells it from
  /// others.
  package init(_ number: Int = 0, by transport: String, from port: UInt16) {
    name = "question-\(number)"
    text = [
      "OPTIONS sip:bob@127.0.0.1 SIP/2.0",
      "Via: SIP/2.0/\(transport.uppercased()) 127.0.0.1:\(port);branch=z9hG4bK\(name)",
      "From: <sip:carol@127.0.0.1>;tag=1", "To: <sip:bob@127.0.0.1>", "Call-ID: \(name)",
      "CSeq: 1 OPTIONS", "Max-Forwards: 70", "Content-Length: 0", "", "",
    ]
    .joined(separator: "\r\n")
  }

  /// True if a text has the answer.
  package func isAnswered(in text: String) -> Bool { text.contains("Call-ID: \(name)\r\n") }
}
