import ProgramRig
import CRawVoice
import MediaCore
import Codecs
import Playout
import RTP
import RealTime
import Simulation
import SpeechDSP
import VoiceEngine

/// Pieces of the voice path, each of which works through twenty milliseconds of audio at a time.
enum Modules {
  /// Pieces by name; the argument of `run` is the number of 20 ms blocks to work through.
  static let all: [(name: String, run: @Sendable (Int) throws -> Void)] = [
    ("RTP.write", writePackets), ("RTP.parse", parsePackets), ("RealTime.ring", passThroughRing),
    ("Playout.pull", pull), ("Playout.resample", resample), ("Playout.stretch", stretch),
    ("MediaCore.mix", mix), ("SpeechDSP.resampler", convert), ("VoiceStream.call", call),
    ("libopus.call", callRaw), ("libopus.decode", decode),
    ("VoiceLoop.call", { try loop($0, timing: .off) }),
    ("VoiceLoop.timed", { try loop($0, timing: .stages) }),
    ("VoiceLoop.encrypted", { try loop($0, timing: .off, isEncrypted: true) }),
  ]

  private static let packetsPerTurn = 2
  private static let header = RTPHeader(
    marker: false,
    payloadType: 96,
    sequenceNumber: 7,
    timestamp: RTPTimestamp(rawValue: 9),
    ssrc: 1
  )

  private static func speech(_ frames: Int) -> SampleBuffer {
    // A voiced sound of 150 Hz with its harmonics.
    SampleBuffer(
      (0..<frames).map { frame in
        let phase = Double(frame % 320) / 320
        return Float(0.3 * (phase < 0.3 ? phase / 0.3 : (1 - phase) / 0.7) - 0.15)
      }
    )
  }

  private static func writePackets(_ turns: Int) {
    var datagram = ByteBuffer(repeating: 0, count: 1_500)
    for _ in 0..<turns * packetsPerTurn { header.write(to: &datagram) }
  }

  private static func parsePackets(_ turns: Int) throws {
    var datagram = ByteBuffer(repeating: 0, count: 1_500)
    header.write(to: &datagram)
    var parsed = 0
    for turn in 0..<turns * packetsPerTurn {
      datagram[3] = UInt8(truncatingIfNeeded: turn)
      guard let packet = RTPPacket(parsing: datagram, length: 92) else { continue }
      if packet.header.sequenceNumber & 0xFF == UInt16(datagram[3]) { parsed += 1 }
    }
    guard parsed == turns * packetsPerTurn else { throw ModuleError("a packet was not parsed") }
  }

  private static func passThroughRing(_ turns: Int) throws {
    var producer = RingProducer<Float>(capacity: 4_096)
    var consumer = producer.makeConsumer()
    var sum: Float = 0
    for _ in 0..<turns {
      for frame in 0..<960 { _ = producer.write(Float(frame)) }
      while let sample = consumer.read() { sum += sample }
    }
    guard sum > 0 else { throw ModuleError("nothing came through the ring") }
  }

  private static func pull(_ turns: Int) throws {
    var buffer = JitterBuffer()
    var queued = 0
    var decoded = 0
    for turn in 0..<turns * 8 {
      let now = MonotonicInstant(nanoseconds: Int64(turn) * 2_500_000)
      if turn % 4 == 0 {
        _ = buffer.insert(
          sequence: Int64(turn / 4 + 1),
          mediaFrame: Int64(turn / 4 * 480),
          frames: 480,
          isSilence: false,
          at: now,
          wait: 0
        )
      }
      while queued < 120 {
        switch buffer.next(at: now, queuedFrames: queued) {
        case .decode(_, let frames, _):
          queued += frames
          decoded += 1
          _ = buffer.correction(at: now, queuedFrames: queued, isQuiet: false)
        case .decodeLate(_, let frames, let skipping, _), .recover(_, let frames, let skipping, _):
          queued += frames - skipping
        case .conceal(let frames), .comfort(let frames), .silence(let frames): queued += frames
        }
      }
      queued -= 120
    }
    guard decoded > turns else { throw ModuleError("only \(decoded) packets were decoded") }
  }

  private static func resample(_ turns: Int) {
    var queue = OutputBuffer()
    let block = speech(960)
    var output = SampleBuffer(repeating: 0, count: 960)
    for _ in 0..<turns {
      queue.append(block, count: 960)
      _ = queue.read(addingTo: &output, in: 0..<958, ratio: 1.001)
    }
  }

  private static func stretch(_ turns: Int) throws {
    let block = speech(2_880)
    var output = SampleBuffer(repeating: 0, count: 4_096)
    var removed = 0
    for _ in 0..<turns {
      var queue = OutputBuffer()
      queue.append(block, count: 2_880)
      removed += queue.shorten(limit: 960, isUrgent: true)
      _ = queue.read(addingTo: &output, in: 0..<960, ratio: 1)
    }
    guard removed > 0 else { throw ModuleError("nothing was cut") }
  }

  private static func mix(_ turns: Int) {
    var sum = SampleBuffer(repeating: 0, count: 960)
    let block = speech(960)
    for _ in 0..<turns { sum.add(block, count: 960) }
  }

  private static func convert(_ turns: Int) throws {
    var resampler = try FixedRateResampler(from: SampleRate(hertz: 44_100), to: .voice)
    let block = speech(882)
    var output = SampleBuffer(repeating: 0, count: 2_048)
    for _ in 0..<turns { _ = resampler.convert(block, count: 882, into: &output, at: 0) }
  }

  private static func call(_ turns: Int) throws {
    let configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    var stream = try VoiceStream(configuration)
    let block = speech(120)
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var output = SampleBuffer(repeating: 0, count: 120)
    for turn in 0..<turns * 8 {
      let now = MonotonicInstant(nanoseconds: Int64(turn) * 2_500_000)
      stream.push(block, count: 120, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        let arrival = ArrivalTime(instant: now, playback: now, wait: 0)
        stream.receive(datagram, length: length, at: arrival)
      }
      output.fill(0, count: 120)
      stream.render(addingTo: &output, count: 120, at: now)
    }
    guard output.peak(count: 120) > 0.01 else { throw ModuleError("nothing was heard") }
  }

  // Two voice loops on scripted headsets, by a made-up clock: all but the system calls.
  private static func loop(
    _ turns: Int,
    timing: EngineSettings.Trace,
    isEncrypted: Bool = false
  ) throws {
    var party = SimulatedCall.Party()
    let block = speech(960)
    party.card.sound = (0..<960).map { block[$0] }
    party.trace = timing
    var stream = StreamConfiguration.opus(ssrc: 1, seed: 2)
    stream.isAuthenticated = isEncrypted
    let call = try SimulatedCall(
      near: party,
      far: party,
      over: .clean,
      configuration: stream,
      seed: 1
    )
    call.run(seconds: Double(turns) * 0.02)
    guard call.heard.contains(where: { abs($0) > 0.01 }) else {
      throw ModuleError("nothing was heard")
    }
  }

  private static func decode(_ turns: Int) throws {
    var encoder = try OpusVoiceEncoder(application: .speech, bitrate: 48_000)
    var decoder = try OpusVoiceDecoder()
    let block = speech(480)
    var packet = ByteBuffer(repeating: 0, count: 1_500)
    var output = SampleBuffer(repeating: 0, count: OpusVoiceDecoder.maximumFrames)
    var length = 0
    // The same packet over and over: encoding is not measured.
    for _ in 0..<20 { length = encoder.encode(block, frames: 480, into: &packet, at: 0) }
    var decoded = 0
    for _ in 0..<turns * packetsPerTurn {
      decoded += decoder.decode(packet, in: 0..<length, into: &output)
    }
    guard decoded == turns * 960 else { throw ModuleError("\(decoded) frames were decoded") }
  }

  private static func callRaw(_ turns: Int) throws {
    guard let voice = unsafe raw_voice_open(480, 48_000, 0) else {
      throw ModuleError("libopus refused the setting")
    }
    defer { unsafe raw_voice_close(voice) }
    // As in `call`, so that both encode the same.
    let part = speech(120)
    var block = SampleBuffer(repeating: 0, count: 480)
    for place in 0..<4 { block.copy(from: part, to: 120 * place, count: 120) }
    var output = [Float](repeating: 0, count: 5_760)
    for _ in 0..<turns * packetsPerTurn {
      _ = unsafe raw_voice_turn(voice, block.address, &output)
    }
  }
}

/// Error of a piece that did not do the work to be measured.
struct ModuleError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
