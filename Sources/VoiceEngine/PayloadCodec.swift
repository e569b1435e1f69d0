import G711
import MediaTime
import OpusCodec
import SpeechDSP

/// Turns frames at 48 kHz into payloads of the stream's codec.
struct PayloadEncoder: ~Copyable {
  /// Frames of delay inside the encoder.
  let lookAhead: FrameCount
  private let law: G711.Law
  private var opus: OpusVoiceEncoder?
  private var toNarrowband: FixedRateResampler?
  private var narrowband = FixedArray<Float>(repeating: 0, count: 2_880)

  init(_ configuration: StreamConfiguration) throws {
    switch configuration.codec {
    case .opus:
      // Below 10 ms everything is CELT anyway: the low-delay encoder looks 4 ms less ahead.
      let application: OpusVoiceEncoder.Application =
        configuration.packetFrames < 480 ? .lowDelay : .speech
      var encoder = try OpusVoiceEncoder(
        application: application,
        bitrate: configuration.bitrate,
        complexity: max(0, min(10, configuration.complexity))
      )
      encoder.setDiscontinuousTransmission(enabled: configuration.usesDiscontinuousTransmission)
      self.init(encoder)
    case .pcmu, .pcma:
      let resampler = try FixedRateResampler(
        from: .voice,
        to: SampleRate(hertz: G711.sampleRateHertz)
      )
      self.init(law: configuration.codec == .pcmu ? .mu : .a, resampler)
    }
  }

  private init(_ encoder: consuming OpusVoiceEncoder) {
    law = .mu
    lookAhead = encoder.lookAhead
    opus = consume encoder
    toNarrowband = nil
  }

  private init(law: G711.Law, _ resampler: consuming FixedRateResampler) {
    self.law = law
    lookAhead = 0
    opus = nil
    toNarrowband = consume resampler
  }

  @_noAllocation @_noLocks
  mutating func encode(
    _ samples: borrowing SampleBuffer,
    frames: FrameCount,
    into packet: inout ByteBuffer,
    at offset: Int
  ) -> Int {
    if let length = opus?.encode(samples, frames: frames, into: &packet, at: offset) {
      return length
    }
    let conversion = toNarrowband?.convert(samples, count: frames, into: &narrowband, at: 0)
    guard let produced = conversion?.produced else { return 0 }
    let count = min(produced, packet.count - offset)
    for index in 0..<count {
      packet[offset + index] = G711.encode(narrowband[index], law: law)
    }
    return count
  }

  @_noAllocation @_noLocks
  mutating func setBitrate(_ bitsPerSecond: Int) {
    opus?.setBitrate(bitsPerSecond)
  }

  @_noAllocation @_noLocks
  mutating func setExpectedLoss(percent: Int) {
    opus?.setRedundancy(enabled: percent > 0, expectedLossPercent: percent)
  }
}

/// Turns payloads of the stream's codec, and their absence, into frames at 48 kHz.
struct PayloadDecoder: ~Copyable {
  private let codec: StreamConfiguration.Codec
  private let law: G711.Law
  private var opus: OpusVoiceDecoder?
  private var toWideband: FixedRateResampler?
  private var narrowband = FixedArray<Float>(repeating: 0, count: 960)
  private var fade: Float = 0

  init(_ configuration: StreamConfiguration) throws {
    switch configuration.codec {
    case .opus:
      let decoder = try OpusVoiceDecoder()
      self.init(decoder)
    case .pcmu, .pcma:
      let resampler = try FixedRateResampler(
        from: SampleRate(hertz: G711.sampleRateHertz),
        to: .voice
      )
      self.init(configuration.codec, resampler)
    }
  }

  private init(_ decoder: consuming OpusVoiceDecoder) {
    codec = .opus
    law = .mu
    opus = consume decoder
    toWideband = nil
  }

  private init(_ codec: StreamConfiguration.Codec, _ resampler: consuming FixedRateResampler) {
    self.codec = codec
    law = codec == .pcmu ? .mu : .a
    opus = nil
    toWideband = consume resampler
  }

  /// The duration of a payload in frames at 48 kHz, nil if it makes no sense.
  @_noAllocation @_noLocks
  func frames(of bytes: borrowing ByteBuffer, in range: Range<Int>) -> FrameCount? {
    let count = range.upperBound - range.lowerBound
    switch codec {
    case .opus:
      return OpusVoiceDecoder.frames(of: bytes, in: range)
    case .pcmu, .pcma:
      // Up to 120 ms in steps of a sample of 8 kHz.
      return count > 0 && count <= 960 ? count * 6 : nil
    }
  }

  /// True if a payload brings the packet before it once more.
  @_noAllocation @_noLocks
  func carriesRedundancy(_ bytes: borrowing ByteBuffer, in range: Range<Int>) -> Bool {
    switch codec {
    case .opus: return OpusVoiceDecoder.carriesRedundancy(bytes, in: range)
    case .pcmu, .pcma: return false
    }
  }

  /// True if a payload of `count` bytes only says that the sender fell silent (Opus DTX: the header alone).
  @_noAllocation @_noLocks
  func isSilence(byteCount count: Int) -> Bool {
    switch codec {
    case .opus: return count <= 2
    case .pcmu, .pcma: return false
    }
  }

  @_noAllocation @_noLocks
  mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer
  ) -> FrameCount {
    if let frames = opus?.decode(bytes, in: range, into: &samples) { return frames }
    let count = min(range.upperBound - range.lowerBound, narrowband.count)
    for index in 0..<count {
      narrowband[index] = G711.decode(bytes[range.lowerBound + index], law: law)
    }
    fade = 1
    return widen(count, into: &samples)
  }

  @_noAllocation @_noLocks
  mutating func recover(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount
  ) -> FrameCount {
    if let recovered = opus?.recover(bytes, in: range, into: &samples, frames: frames) {
      return recovered
    }
    return conceal(into: &samples, frames: frames)
  }

  @_noAllocation @_noLocks
  mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount {
    if let concealed = opus?.conceal(into: &samples, frames: frames) { return concealed }
    // G.711 has no memory of its own: the last packet again, fading out within 60 ms.
    let count = min(frames / 6, narrowband.count)
    for index in 0..<count {
      narrowband[index] *= fade
      fade = max(0, fade - 1 / 480)
    }
    return widen(count, into: &samples)
  }

  @_noAllocation @_noLocks
  private mutating func widen(_ count: Int, into samples: inout SampleBuffer) -> FrameCount {
    guard count > 0 else { return 0 }
    return toWideband?.convert(narrowband, count: count, into: &samples, at: 0).produced ?? 0
  }
}
