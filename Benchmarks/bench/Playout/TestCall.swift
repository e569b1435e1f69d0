import MediaCore
import Codecs
import Rig
import Simulation

/// Speech, and the arrivals of its packets from an emulated network, the same for every receiver.
struct TestCall {
  /// A sentence, and its first frame in the sound.
  struct Utterance {
    let samples: [Float]
    let frame: Int
  }

  /// Parameters of a call.
  struct Setting {
    var network: NetworkConditions
    var seed: UInt64
    var seconds: Int
    var packetFrames = 960
    var bitrate = 32_000
    /// Error of the sender's crystal in parts per million, positive if it is fast.
    var drift = 0
    /// Kind of the faults that hold both machines up a hundred times a minute, for 3 to 20 ms, in
    /// whole calls; nil for none.
    ///
    /// `areStallsCommon` has them happen to both machines at the same moments.
    var stalls: DeviceFault.Kind?
    var areStallsCommon = false
    /// Length of the start that is not counted, in which receivers look for their delay.
    var settlingSeconds = 5
  }

  let setting: Setting
  /// Packets in order of arrival.
  let packets: [ArrivedPacket]
  let utterances: [Utterance]
  /// Speech of the sender at 48 kHz, with pauses.
  let sound: [Float]
  let lookAhead: Int

  private static let pauseFrames = 36_000

  /// Creates a call that repeats the sentences for the duration of the setting.
  init(_ setting: Setting, saying sentences: [[Float]]) throws {
    self.setting = setting
    let total = setting.seconds * 48_000
    var sound: [Float] = [Float](repeating: 0, count: Self.pauseFrames)
    var utterances: [Utterance] = []
    var index = Int(setting.seed % UInt64(sentences.count))
    while sound.count < total {
      utterances.append(Utterance(samples: sentences[index], frame: sound.count))
      sound += sentences[index] + [Float](repeating: 0, count: Self.pauseFrames)
      index = (index + 1) % sentences.count
    }
    self.utterances = utterances.filter { $0.frame + $0.samples.count + 96_000 < total }
    var encoder = try OpusVoiceEncoder(
      application: setting.packetFrames < 480 ? .lowDelay : .speech,
      bitrate: setting.bitrate
    )
    lookAhead = encoder.lookAhead
    let loss = Int((setting.network.lossShare * 100).rounded())
    encoder.setRedundancy(enabled: loss > 0, expectedLossPercent: loss)
    self.sound = Array(sound.prefix(total))
    packets = Self.send(self.sound, by: encoder, setting)
  }

  /// First frames of the sentences after the settling time, each with half of the pause before it.
  var settledStarts: [Int] {
    utterances.map { $0.frame - Self.pauseFrames / 2 }
      .filter { $0 >= setting.settlingSeconds * 48_000 }
  }

  /// Returns the faults of the machine on one side, in the order of their times.
  func faults(ofSide side: UInt64) -> [DeviceFault] {
    guard let kind = setting.stalls else { return [] }
    var random = SeededGenerator(seed: 2 * setting.seed + (setting.areStallsCommon ? 0 : side))
    return (0..<setting.seconds * 5 / 3).map { _ in
      DeviceFault(
        kind,
        second: Double.random(in: 0..<Double(setting.seconds), using: &random),
        milliseconds: Double.random(in: 3...20, using: &random)
      )
    }
    .sorted { $0.at < $1.at }
  }

  private static func send(
    _ sound: [Float],
    by encoder: consuming OpusVoiceEncoder,
    _ setting: Setting
  ) -> [ArrivedPacket] {
    var network = EmulatedNetwork(setting.network, seed: setting.seed)
    let samples = SampleBuffer(sound)
    var block = SampleBuffer(repeating: 0, count: setting.packetFrames)
    var bytes = ByteBuffer(repeating: 0, count: 1_500)
    var packets: [ArrivedPacket] = []
    let frames = setting.packetFrames
    for sequence in 0..<sound.count / frames {
      block.copy(from: samples, at: sequence * frames, count: frames)
      let length = encoder.encode(block, frames: frames, into: &bytes, at: 0)
      let departure = Self.captured(Int64((sequence + 1) * frames), drift: setting.drift)
      let fate = network.fate(sentAt: departure, byteCount: length + 12)
      let payload = (0..<length).map { bytes[$0] }
      let hasRedundancy = OpusVoiceDecoder.redundantFrames(of: bytes, in: 0..<length) > 0
      for arrival in [fate.arrival, fate.copy] {
        guard let arrival else { continue }
        packets.append(
          ArrivedPacket(
            sequence: sequence,
            frame: Int64(sequence * frames),
            frames: Int64(frames),
            payload: payload,
            hasRedundancy: hasRedundancy,
            arrival: arrival
          )
        )
      }
    }
    return packets.sorted { ($0.arrival, $0.sequence) < ($1.arrival, $1.sequence) }
  }

  /// Returns the instant at which a frame of the sender's microphone was sampled.
  static func captured(_ frame: Int64, drift: Int) -> MonotonicInstant {
    let nominal = frame * 62_500 / 3
    return MonotonicInstant(nanoseconds: nominal - nominal / 1_000_000 * Int64(drift))
  }
}
