import ALSAAudio
import AVFAudio
import Foundation
import MediaCore
import RTP
import RealTime
import Testing
import UDPTransport
import VoiceEngine

@testable import SIPSignalling
@testable import SidetonePhone

/// Two legs that talk to each other over loopback, on a real voice thread without a sound card.
struct MediaLegTests {
  private let engine: CallEngine
  private let legs: [MediaLeg]

  init() throws {
    engine = try CallEngine(
      device: Headset(capture: .null, playback: .null),
      settings: EngineSettings()
    )
    legs = try (0..<2).map { _ in
      let leg = MediaLeg(PhoneConfiguration(), host: "127.0.0.1")
      try leg.open(portPolicy: .anyPort)
      return leg
    }
  }

  private func port(_ leg: MediaLeg) throws -> UInt16 { try #require(leg.offer).port }

  private func connect() throws {
    try legs[0].agree(.opus(port: port(legs[1])))
    try legs[1].agree(.opus(port: port(legs[0])))
  }

  /// Waits until a condition holds, ten seconds at most; returns whether it does.
  private func wait(until condition: () -> Bool) -> Bool {
    let deadline = Date(timeIntervalSinceNow: 10)
    while !condition(), Date() < deadline {
      RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
    }
    return condition()
  }

  @Test func theVoiceNeedsAnAgreementAndAnEngineInEitherOrder() throws {
    try legs[0].agree(.opus(port: port(legs[1])))
    #expect(legs[0].stream == nil)
    try legs[0].attach(to: engine.streams)
    #expect(legs[0].stream != nil)

    try legs[1].attach(to: engine.streams)
    #expect(legs[1].stream == nil)
    try legs[1].agree(.opus(port: port(legs[0])))
    #expect(legs[1].stream != nil)
    #expect(wait { (legs[1].statistics?.packetsReceived ?? 0) > 10 })
    engine.stop()
  }

  @Test func checksArePassedOnWithAndWithoutAStream() throws {
    let leg = MediaLeg(PhoneConfiguration(), host: "127.0.0.1")
    leg.checksPaths = true
    try leg.open(portPolicy: .anyPort)
    let checks = try #require(leg.checkPort)
    let any = try #require(SocketAddress(host: "127.0.0.1", port: 0))
    let far = try MediaSocket(bindingTo: any)
    let own = try #require(SocketAddress(host: "127.0.0.1", port: port(leg)))
    func isPassedOn() -> Bool {
      far.send([0, 42], to: own)
      var isThere = false
      return wait {
        isThere = isThere || checks.receive()?.bytes == [0, 42]
        return isThere
      }
    }
    #expect(isPassedOn())
    try leg.attach(to: engine.streams)
    try leg.agree(.opus(port: far.localPort))
    #expect(leg.stream != nil && isPassedOn())
    // A hold.
    try leg.agree(.opus(port: far.localPort, maySend: false, mayReceive: false))
    #expect(leg.stream == nil && isPassedOn())
    try leg.agree(.opus(port: far.localPort))
    #expect(leg.stream != nil && isPassedOn())
    try leg.attach(to: nil)
    #expect(isPassedOn())
    engine.stop()
  }

  @Test func theSameAgreementKeepsTheStream() throws {
    try connect()
    try legs[0].attach(to: engine.streams)
    let stream = legs[0].stream
    try connect()
    #expect(legs[0].stream == stream && stream != nil)
    try legs[0].agree(.opus(port: port(legs[1]), maySend: false))
    #expect(legs[0].stream != stream && legs[0].stream != nil)
    engine.stop()
  }

  /// RFC 3264 section 6.1: of an answer with several codecs, the far side sends any.
  @Test func theVoiceFollowsTheCodecThatComes() throws {
    func media(_ codec: OfferedCodec, _ number: UInt8, to leg: MediaLeg) throws -> NegotiatedMedia {
      try .opus(port: port(leg)).with(codec, sending: number, receiving: number)
    }
    var agreed = try media(.pcmu, 0, to: legs[1])
    agreed.others = [try media(.pcma, 8, to: legs[1])]
    try legs[0].agree(agreed)
    try legs[1].agree(media(.pcma, 8, to: legs[0]))
    for leg in legs { try leg.attach(to: engine.streams) }
    let first = try #require(legs[0].stream)
    #expect(
      wait {
        // One that cannot start does not follow, and the expectation fails.
        try? legs[0].followCodec()
        return legs[0].stream != first
      }
    )
    #expect(wait { (legs[0].statistics?.packetsReceived ?? 0) > 10 })
    #expect(wait { (legs[1].statistics?.packetsReceived ?? 0) > 10 }, "it sends the same")
    let second = legs[0].stream
    try legs[0].agree(agreed)
    #expect(legs[0].stream == second, "what is agreed on once more changes nothing")
    engine.stop()
  }

  @Test func aHoldEndsTheStreamAndKeepsThePort() throws {
    try connect()
    try legs[0].attach(to: engine.streams)
    let port = try port(legs[0])
    try legs[0].agree(nil)
    #expect(legs[0].stream == nil && legs[0].statistics == nil)
    try legs[0].agree(.opus(port: self.port(legs[1]), maySend: false, mayReceive: false))
    #expect(legs[0].stream == nil)
    try connect()
    #expect(try legs[0].stream != nil && self.port(legs[0]) == port)
    engine.stop()
  }

  /// A hold sends no RTCP BYE: GNOME Calls and aiortc play nothing of a source that continues after
  /// one.
  @Test func aHoldIsNoGoodbye() throws {
    var far = try MediaSocket(bindingTo: #require(SocketAddress(host: "127.0.0.1", port: 0)))
    var headers: [RTPHeader] = []
    var goodbyes = 0
    func hear(until condition: () -> Bool) -> Bool {
      wait {
        var buffer = ByteBuffer(repeating: 0, count: 2_048)
        let now = MonotonicClock.now()
        while case .received(let arrival) = far.receive(into: &buffer, at: now) {
          if RTCPPacketType.isRTCP(secondByte: buffer[1]) {
            var reader = RTCPReader()
            while let item = reader.next(in: buffer, length: arrival.length) {
              if case .goodbye = item { goodbyes += 1 }
            }
          } else if let packet = RTPPacket(parsing: buffer, length: arrival.length) {
            headers.append(packet.header)
          }
        }
        return condition()
      }
    }
    let media = NegotiatedMedia.opus(port: far.localPort)
    try legs[0].agree(media)
    far.connect(
      to: try #require(SocketAddress(host: "127.0.0.1", port: port(legs[0]))),
      control: try #require(SocketAddress(host: "127.0.0.1", port: port(legs[0])))
    )
    for _ in 0..<3 {
      try legs[0].attach(to: engine.streams)
      let heard = headers.count
      // Its budget for addresses that are silent is spent soon.
      #expect(hear { headers.count > heard })
      try legs[0].agree(nil)
      try legs[0].attach(to: nil)
      try legs[0].agree(media)
    }
    #expect(Set(headers.map(\.ssrc)).count == 1 && goodbyes == 0)
    for (next, previous) in zip(headers.dropFirst(), headers) {
      #expect(next.sequenceNumber == previous.sequenceNumber &+ 1)
      #expect(Int32(bitPattern: next.timestamp.rawValue &- previous.timestamp.rawValue) > 0)
    }
    engine.stop()
  }

  @Test func digitsThatCameTooEarlyAreSentWithTheVoice() throws {
    legs[0].send(digits: [4, 2])
    try connect()
    for leg in legs { try leg.attach(to: engine.streams) }
    var received: [UInt8] = []
    _ = wait {
      received += legs[1].takeDigits()
      return received.count == 2
    }
    #expect(received == [4, 2])
    engine.stop()
  }

  // After a hold they would arrive at another time than they were pressed for.
  @Test(arguments: [false, true])
  func digitsOfBeforeAHoldAreDropped(isOfFarSide: Bool) throws {
    legs[0].send(digits: [4])
    let held = try NegotiatedMedia.opus(port: port(legs[1]), maySend: false, mayReceive: false)
    try legs[0].agree(isOfFarSide ? held : nil)
    legs[0].send(digits: [2])
    try connect()
    for leg in legs { try leg.attach(to: engine.streams) }
    var received: [UInt8] = []
    _ = wait {
      received += legs[1].takeDigits()
      return !received.isEmpty
    }
    #expect(received == [2])
    engine.stop()
  }

  // Whatever was missing comes: a stream that could not start is tried again.
  @Test func aPortThatOpensAfterTheAgreementStartsTheVoice() throws {
    let late = MediaLeg(PhoneConfiguration(), host: "127.0.0.1")
    try late.agree(.opus(port: port(legs[0])))
    try late.attach(to: engine.streams)
    #expect(late.stream == nil)
    try late.open(portPolicy: .anyPort)
    #expect(late.stream != nil)
    engine.stop()
  }

  @Test func aPortThatWasPromisedIsNotExchanged() throws {
    var configuration = PhoneConfiguration()
    configuration.mediaPort = try port(legs[0])
    let other = MediaLeg(configuration, host: "127.0.0.1")
    #expect(throws: PhoneError.self) { try other.open(portPolicy: .configuredPort) }
    #expect(other.offer == nil)
    try other.open(portPolicy: .anyPort)
    #expect(try port(other) != configuration.mediaPort)
    engine.stop()
  }
}
