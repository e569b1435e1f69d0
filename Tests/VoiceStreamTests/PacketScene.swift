import Foundation
import MediaCore

@testable import RTP
@testable import VoiceStream

/// A datagram and when it leaves, in milliseconds since the scene began.
struct SentPacket {
  var at: Double
  var bytes: [UInt8]

  var sequenceNumber: UInt16 {
    get { UInt16(bytes[2]) << 8 | UInt16(bytes[3]) }
    set { (bytes[2], bytes[3]) = (UInt8(newValue >> 8), UInt8(newValue & 0xFF)) }
  }

  var timestamp: UInt32 {
    get { (4..<8).reduce(0) { $0 << 8 | UInt32(bytes[$1]) } }
    set { for index in 0..<4 { bytes[4 + index] = UInt8(newValue >> (24 - 8 * index) & 0xFF) } }
  }
}

/// A receiver in virtual time that plays packets of real senders, tampered with by a test.
struct PacketScene: ~Copyable {
  var receiver: VoiceStream
  private(set) var heard: [Float] = []
  private var now = MonotonicInstant(nanoseconds: 5_000_000_000)
  private var samples = SampleBuffer(repeating: 0, count: 480)
  private let pull = 240

  init(_ configure: (inout StreamConfiguration) -> Void = { _ in }) throws {
    var configuration = StreamConfiguration.opus(ssrc: 77, seed: 77, withCopies: true)
    configure(&configuration)
    receiver = try VoiceStream(configuration)
  }

  /// Packets that a new sender sends for `seconds` of voice, over noise between -`noise` and
  /// `noise`.
  static func voice(
    seconds: Double,
    from start: Double = 0,
    codec: StreamConfiguration.Codec = .opus,
    frames: Int = 480,
    ssrc: UInt32 = 5,
    seed: UInt64 = 9,
    silentFrom silence: Double = .infinity,
    to end: Double = .infinity,
    noise: Float = 0,
    usesDTX: Bool = false,
    complexity: Int = 0
  ) throws -> [SentPacket] {
    var configuration = StreamConfiguration.opus(ssrc: ssrc, seed: seed)
    configuration.codec = codec
    configuration.packetFrames = frames
    configuration.usesDiscontinuousTransmission = usesDTX
    configuration.complexity = complexity
    var random = SeededGenerator(seed: seed)
    var stream = try VoiceStream(configuration)
    var block = SampleBuffer(repeating: 0, count: 120)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var packets: [SentPacket] = []
    for turn in 0..<Int(seconds * 400) {
      let second = Double(turn) / 400
      let isSilent = second >= silence && second < end
      for index in 0..<120 {
        let background = noise == 0 ? 0 : Float.random(in: -noise...noise, using: &random)
        block[index] = background + (isSilent ? 0 : VirtualCall.voice(at: turn * 120 + index))
      }
      stream.push(block, count: 120, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        let bytes = (0..<length).map { datagram[$0] }
        packets.append(SentPacket(at: (start + second) * 1_000 + 2.5, bytes: bytes))
      }
    }
    return packets
  }

  /// Lets packets arrive 5 ms after they left, and plays until `milliseconds` after the scene
  /// began.
  mutating func play(_ packets: [SentPacket], until milliseconds: Double) {
    let begin: Int64 = 5_000_000_000
    let wire = packets.map { (at: begin + Int64(($0.at + 5) * 1e6), bytes: $0.bytes) }
      .sorted { $0.at < $1.at }
    var next = 0
    while now.nanoseconds < begin + Int64(milliseconds * 1e6) {
      while next < wire.count, wire[next].at <= now.nanoseconds {
        let instant = MonotonicInstant(nanoseconds: wire[next].at)
        receiver.receive(
          ByteBuffer(wire[next].bytes),
          length: wire[next].bytes.count,
          at: ArrivalTime(
            instant: instant,
            playback: instant,
            wait: now.nanoseconds(since: instant)
          )
        )
        next += 1
      }
      samples.fill(0, count: pull)
      receiver.render(addingTo: &samples, count: pull, at: now)
      for index in 0..<pull { heard.append(samples[index]) }
      now = now.advanced(byNanoseconds: Int64(pull) * 62_500 / 3)
    }
  }

  /// Mean power played between two moments, relative to that of the voice.
  ///
  /// Both are in milliseconds since the scene began.
  func loudness(from: Double, to: Double) -> Float {
    let range = Int(from * 48)..<min(Int(to * 48), heard.count)
    guard !range.isEmpty else { return 0 }
    let power = heard[range].reduce(0) { $0 + $1 * $1 } / Float(range.count)
    let said = (0..<48_000).reduce(Float(0)) { $0 + pow(VirtualCall.voice(at: $1), 2) } / 48_000
    return power / said
  }

  /// The loudest 5 ms between two moments, in milliseconds since the scene began, in dBFS.
  func loudest(from: Double, to: Double) -> Float {
    let powers = stride(from: Int(from * 48), to: min(Int(to * 48), heard.count) - 240, by: 240)
      .map { heard[$0..<$0 + 240].reduce(0) { $0 + $1 * $1 } / 240 }
    return 10 * log10(max(1e-10, powers.max() ?? 0))
  }

  /// The mean power between two moments, in milliseconds since the scene began, in dBFS.
  func level(from: Double, to: Double) -> Float {
    let range = Int(from * 48)..<min(Int(to * 48), heard.count)
    let power = heard[range].reduce(0) { $0 + $1 * $1 } / Float(max(1, range.count))
    return 10 * log10(max(1e-10, power))
  }

  /// Time since anything came from the sender, in milliseconds.
  var silence: Double {
    mutating get { Double(receiver.takeStatistics(at: now).silenceNanoseconds) / 1e6 }
  }

  /// Statistics of the receiver: all in milliseconds, but for the number of late packets.
  mutating func count() -> (concealed: Double, recovered: Double, late: Int64, delay: Double) {
    let statistics = receiver.takeStatistics(at: now)
    return (
      Double(statistics.concealedFrames) / 48, Double(statistics.recoveredFrames) / 48,
      statistics.packetsLate, Double(statistics.playoutDelayNanoseconds) / 1e6
    )
  }
}
