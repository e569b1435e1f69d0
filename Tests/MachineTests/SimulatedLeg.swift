import MediaCore
import SIPSignalling
import VoiceEngine

@testable import VoiceStream

/// The voice of one call as `MediaLeg` runs it, with a real stream over a simulated network.
final class SimulatedLeg {
  /// The real stream, which cannot be copied.
  private final class Voice {
    var stream: VoiceStream
    init(_ stream: consuming VoiceStream) { self.stream = stream }
  }

  let port: UInt16
  private let machine: Int
  private var seed: UInt64
  private var voice: Voice?
  private(set) var agreed: NegotiatedMedia?
  private var streamed: NegotiatedMedia?
  /// The number of the engine that the stream runs on.
  private(set) var engine: Int?
  private var isMuted = false

  /// Frames in a period of the sound card.
  ///
  /// They fill a packet of 60 ms, so that a call has few events.
  static let period = 2_880

  init(machine: Int, port: UInt16, seed: UInt64) {
    self.machine = machine
    self.port = port
    self.seed = seed
  }

  func setMuted(_ isMuted: Bool) { self.isMuted = isMuted }

  /// Switches to the negotiated media; returns the RTCP BYE of the stream that ends, nil if none
  /// does.
  func agree(_ media: NegotiatedMedia?, at now: MonotonicInstant) -> VoiceDatagram? {
    agreed = media
    return follow(at: now)
  }

  func attach(to engine: Int?, at now: MonotonicInstant) -> VoiceDatagram? {
    guard engine != self.engine else { return nil }
    let goodbye = detach(at: now)
    self.engine = engine
    return follow(at: now) ?? goodbye
  }

  private func follow(at now: MonotonicInstant) -> VoiceDatagram? {
    guard agreed != streamed else { return nil }
    let goodbye = detach(at: now)
    guard engine != nil, let media = agreed else { return goodbye }
    streamed = media
    guard media.maySend || media.mayReceive else { return goodbye }
    seed &+= 1
    var configuration = StreamConfiguration(
      codec: .pcmu,
      sendPayloadType: media.sendPayloadType,
      receivePayloadType: media.receivePayloadType,
      ssrc: UInt32(truncatingIfNeeded: seed &* 0x9E37_79B9),
      seed: seed
    )
    configuration.packetFrames = Self.period
    configuration.maySend = media.maySend
    if let stream = try? VoiceStream(configuration) { voice = Voice(stream) }
    return goodbye
  }

  /// Ends the stream and returns its RTCP BYE; nil if there was no stream.
  func detach(at now: MonotonicInstant) -> VoiceDatagram? {
    defer {
      voice = nil
      streamed = nil
    }
    return report(at: now, isGoodbye: true)
  }

  /// Ends the stream of an engine that stopped before the leg was detached; returns its RTCP BYE.
  func engineStopped(at now: MonotonicInstant) -> VoiceDatagram? {
    defer { voice = nil }
    return report(at: now, isGoodbye: true)
  }

  /// Runs one period of the sound card and returns the datagrams that are sent.
  func run(at now: MonotonicInstant, _ samples: inout SampleBuffer) -> [VoiceDatagram] {
    guard let voice else { return [] }
    voice.stream.push(samples, count: Self.period, isMuted: isMuted)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var sent: [VoiceDatagram] = []
    while let length = voice.stream.nextPacket(into: &datagram) {
      if let packet = packet(datagram, length) { sent.append(packet) }
    }
    if let report = report(at: now, isGoodbye: false) { sent.append(report) }
    var output = SampleBuffer(repeating: 0, count: Self.period)
    voice.stream.render(addingTo: &output, count: Self.period, at: now)
    return sent
  }

  private func report(at now: MonotonicInstant, isGoodbye: Bool) -> VoiceDatagram? {
    guard let voice else { return nil }
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    let length = voice.stream.nextReport(
      into: &datagram,
      at: now,
      wallNanoseconds: now.nanoseconds,
      isGoodbye: isGoodbye
    )
    return length.flatMap { packet(datagram, $0) }
  }

  private func packet(_ bytes: borrowing ByteBuffer, _ length: Int) -> VoiceDatagram? {
    guard let media = streamed ?? agreed, let far = SimulatedWorld.machine(at: media.host) else {
      return nil
    }
    var copy: [UInt8] = []
    copy.reserveCapacity(length)
    for index in 0..<length { copy.append(bytes[index]) }
    return VoiceDatagram(
      sender: machine,
      senderPort: port,
      receiver: far,
      receiverPort: media.port,
      bytes: copy
    )
  }

  func receive(_ datagram: VoiceDatagram, at now: MonotonicInstant) {
    guard let voice, let media = streamed, datagram.senderPort == media.port else { return }
    let bytes = ByteBuffer(datagram.bytes)
    let arrival = ArrivalTime(instant: now, playback: now, wait: 0)
    voice.stream.receive(bytes, length: datagram.bytes.count, at: arrival)
  }

  func noteRefusal() { voice?.stream.noteRefusal() }

  func statistics(at now: MonotonicInstant) -> StreamStatistics? {
    voice?.stream.takeStatistics(at: now)
  }
}
