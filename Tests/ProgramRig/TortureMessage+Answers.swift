import Foundation
import Glibc

extension TortureMessage {
  /// Ports of the messages' Via headers, where answers by UDP go.
  private static let answerPorts: [UInt16] = [5_060, 5_050, 6_050, 19_823, 5_061]

  /// Sends the message, and a question behind it, by UDP to a port of this machine.
  ///
  /// - Parameters:
  ///   - host: the numeric address of this machine that it is to come from.
  ///   - port: where it goes.
  /// - Returns: the code of the first answer that is not 100; nil if there is none.
  /// - Throws: a `RigError` if a port at the host is taken, or the question gets no answer.
  package func answerByUDP(from host: String, to port: UInt16) throws -> Int? {
    let sockets = Self.answerPorts.map { _ in socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0) }
    defer { for descriptor in sockets { close(descriptor) } }
    for (descriptor, own) in zip(sockets, Self.answerPorts)
    where !LoopbackSocket.bind(descriptor, to: own, at: host) {
      throw RigError("port \(own) at \(host) is taken")
    }
    let question = SIPQuestion(by: "udp", from: Self.answerPorts[0])
    for bytes in [bytes, Array(question.text.utf8)] {
      _ = LoopbackSocket.send(bytes, to: port, from: sockets[0])
    }
    var text = ""
    while !question.isAnswered(in: text) {
      guard let next = LoopbackSocket.datagram(at: sockets[0], within: 5) else {
        throw RigError("a question behind \(self) gets no answer")
      }
      text += String(decoding: next, as: UTF8.self)
    }
    for descriptor in sockets.dropFirst() {
      for next in LoopbackSocket.datagrams(at: descriptor, within: 0) {
        text += String(decoding: next, as: UTF8.self)
      }
    }
    return Self.firstCode(in: text, besides: question)
  }

  /// Sends the message, and a question behind it, by TCP to a port of this machine.
  ///
  /// - Parameters:
  ///   - host: the numeric address of this machine that it is to come from.
  ///   - port: where it goes.
  /// - Returns: the code of the first answer that is not 100; nil if there is none.
  /// - Throws: a `RigError` if there is no connection.
  package func answerByTCP(from host: String, to port: UInt16) throws -> Int? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    let isBound = LoopbackSocket.bind(descriptor, to: 0, at: host)
    LoopbackSocket.connect(descriptor, to: port)
    let question = SIPQuestion(by: "tcp", from: 9)
    let sent = bytes + question.text.utf8
    guard isBound, unsafe write(descriptor, sent, sent.count) == sent.count else {
      throw RigError("no connection from \(host) to port \(port)")
    }
    // What it waits for does not come: it answers what has come, and ends the connection as well.
    shutdown(descriptor, CInt(SHUT_WR))
    var text = ""
    while let next = LoopbackSocket.datagram(at: descriptor, within: 5), !next.isEmpty {
      text += String(decoding: next, as: UTF8.self)
    }
    return Self.firstCode(in: text, besides: question)
  }

  /// The code of the first answer that is not 100, and not to a question; nil if there is none.
  package static func firstCode(in text: String, besides question: SIPQuestion) -> Int? {
    text.components(separatedBy: "SIP/2.0 ").dropFirst().lazy
      .filter { !question.isAnswered(in: $0) }
      .compactMap { Int($0.prefix(3)) }
      .first { $0 > 100 }
  }
}
