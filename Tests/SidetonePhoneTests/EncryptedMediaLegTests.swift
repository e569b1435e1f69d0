import ALSAAudio
import AVFAudio
import CallSecurity
import Foundation
import Synchronization
import Testing
import VoiceEngine

@testable import SIPSignalling
@testable import SidetonePhone

/// A leg of an encrypted call, with the reports of its handshakes.
private final class EncryptedLeg {
  let leg: MediaLeg
  let identity: Identity
  private let reports: Reports

  /// Reports of handshakes, added on their own queue.
  private final class Reports: Sendable {
    private let list = Mutex<[HandshakeReport]>([])

    func add(_ report: HandshakeReport) { list.withLock { $0.append(report) } }

    func take() -> HandshakeReport? {
      list.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
  }

  init() throws {
    let reports = Reports()
    identity = try Identity.make()
    self.reports = reports
    leg = MediaLeg(PhoneConfiguration(), host: "127.0.0.1", identity: identity) {
      reports.add($0)
    }
    try leg.open(portPolicy: .anyPort)
  }

  var port: UInt16 { leg.offer?.port ?? 0 }

  /// Hands reported keys to the leg, as a phone does, and returns the call's words; nil before
  /// there are keys.
  func takeKeys() throws -> [String]? {
    guard case .secured(let media)? = reports.take() else { return nil }
    try leg.secure(with: media)
    return media.encryption.words
  }

  func media(towards other: EncryptedLeg, begins: Bool, maySend: Bool = true) -> NegotiatedMedia {
    .opus(
      port: other.port,
      maySend: maySend,
      mayReceive: maySend,
      encryption: NegotiatedEncryption(
        fingerprint: other.identity.fingerprint,
        beginner: begins ? .local : .remote,
        exchangesWords: true
      )
    )
  }
}

/// Two legs that talk to each other over loopback under SRTP.
struct EncryptedMediaLegTests {
  private let engines: [CallEngine]
  private let caller: EncryptedLeg
  private let callee: EncryptedLeg

  init() throws {
    engines = try (0..<2).map { _ in try Self.engine() }
    caller = try EncryptedLeg()
    callee = try EncryptedLeg()
  }

  private static func engine() throws -> CallEngine {
    try CallEngine(device: Headset(capture: .null, playback: .null), settings: EngineSettings())
  }

  /// Waits until a condition holds, ten seconds at most; returns whether it does.
  private func wait(until condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date(timeIntervalSinceNow: 10)
    while try !condition(), Date() < deadline {
      RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.01))
    }
    return try condition()
  }

  private func agree(maySend: Bool = true) throws {
    try callee.leg.agree(callee.media(towards: caller, begins: true, maySend: maySend))
    try caller.leg.agree(caller.media(towards: callee, begins: false, maySend: maySend))
  }

  /// Rings, so that the handshake is over before the answer, and answers.
  private func connect() throws {
    try callee.leg.prepare(for: callee.media(towards: caller, begins: true))
    for (leg, engine) in zip([caller.leg, callee.leg], engines) {
      try leg.attach(to: engine.streams)
    }
    try agree()
    var words: [[String]?] = [nil, nil]
    #expect(
      try wait {
        words[0] = try words[0] ?? caller.takeKeys()
        words[1] = try words[1] ?? callee.takeKeys()
        return words[0] != nil && words[1] != nil
      }
    )
    #expect(words[0]?.count == 4 && words[0] == words[1])
  }

  private func hear(beyond count: Int64 = 0) -> Bool {
    wait {
      [caller, callee].allSatisfy { ($0.leg.statistics?.packetsReceived ?? 0) > count + 10 }
    }
  }

  @Test func theVoiceBeginsWithTheKeys() throws {
    try callee.leg.attach(to: engines[0].streams)
    try callee.leg.agree(callee.media(towards: caller, begins: true))
    #expect(callee.leg.stream == nil)
    try connect()
    #expect(callee.leg.stream != nil && caller.leg.stream != nil)
    #expect(hear())
    for engine in engines { engine.stop() }
  }

  /// The far side first names an address that does not answer, then the right one.
  @Test func theHandshakeFollowsTheAddress() throws {
    let media = callee.media(towards: caller, begins: true)
    // The port of discard.
    try callee.leg.prepare(for: .opus(port: 9, encryption: media.encryption))
    try connect()
    #expect(hear())
    for engine in engines { engine.stop() }
  }

  /// The voice comes back after a hold with the same keys, on the old engine or a new one.
  @Test(arguments: [false, true])
  func theVoiceComesBackAfterAHold(hasNewEngine: Bool) throws {
    try connect()
    #expect(hear())
    for _ in 0..<3 {
      try agree(maySend: false)
      #expect(caller.leg.stream == nil && callee.leg.stream == nil)
      var engine = engines[0]
      if hasNewEngine {
        try caller.leg.attach(to: nil)
        engine = try Self.engine()
        try caller.leg.attach(to: engine.streams)
      }
      try agree()
      #expect(hear())
    }
    for engine in engines { engine.stop() }
  }
}
