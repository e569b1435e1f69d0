import Codecs
import MediaCore
import SpeechDSP

/// Encoder from frames at 48 kHz to payloads of the stream's codec.
struct PayloadEncoder: ~Copyable {
  private let law: G711.Law
  private var application: OpusVoiceEncoder.Application
  private var speech: OpusVoiceEncoder?
  private var lowDelay: OpusVoiceEncoder?
  private let speechLookAhead: FrameCount
  private let lowDelayLookAhead: FrameCount
  private var isNextIndependent = false
  private var toNarrowband: FixedRateResampler?
  private var narrowband = FixedArray<Float>(repeating: 0, count: 2_880)

  /// Creates an encoder that begins with `plan`; throws the error of a codec or resampler.
  init(_ configuration: StreamConfiguration, _ plan: SendingPlan) throws {
    application = plan.application
    law = configuration.codec == .pcma ? .a : .mu
    let isOpus = configuration.codec == .opus
    let hasSpeech = isOpus && (!plan.isLowDelay || configuration.adaptsPackets)
    let hasLowDelay = isOpus && (plan.isLowDelay || configuration.adaptsPackets)
    speech = hasSpeech ? try Self.encoder(.speech, configuration, plan) : nil
    lowDelay = hasLowDelay ? try Self.encoder(.lowDelay, configuration, plan) : nil
    toNarrowband = isOpus ? nil : try Self.resampler()
    // The far side's way back to 48 kHz is as long.
    let conversions = 2 * (toNarrowband?.lookAheadNanoseconds ?? 0)
    let narrowbandLookAhead = SampleRate.voice.frames(inNanoseconds: conversions)
    speechLookAhead = isOpus ? speech?.lookAhead ?? 0 : narrowbandLookAhead
    lowDelayLookAhead = isOpus ? lowDelay?.lookAhead ?? 0 : narrowbandLookAhead
  }

  private static func resampler() throws -> FixedRateResampler {
    try FixedRateResampler(
      from: .voice,
      to: SampleRate(hertz: G711.sampleRateHertz),
      quality: .telephone
    )
  }

  /// Least complexity at which libopus distinguishes noise from speech, so that DTX works in noise.
  private static let complexityOfDTX = 7

  private static func encoder(
    _ application: OpusVoiceEncoder.Application,
    _ configuration: StreamConfiguration,
    _ plan: SendingPlan
  ) throws -> OpusVoiceEncoder {
    let least = configuration.usesDiscontinuousTransmission ? complexityOfDTX : 0
    var encoder = try OpusVoiceEncoder(
      application: application,
      bitrate: plan.bitrate,
      complexity: max(least, min(10, configuration.complexity))
    )
    encoder.setDiscontinuousTransmission(enabled: configuration.usesDiscontinuousTransmission)
    encoder.setConstantBitRate(enabled: configuration.usesConstantBitRate)
    return encoder
  }

  /// Returns the delay, in frames, of the encoder tuned for `application` and of the decoder after
  /// it.
  @_noAllocation @_noLocks
  func lookAhead(of application: OpusVoiceEncoder.Application) -> FrameCount {
    switch application {
    case .speech: return speechLookAhead
    case .lowDelay: return lowDelayLookAhead
    }
  }

  /// Encodes `frames` of `samples` from `start` on.
  ///
  /// The payload goes to `packet` from `offset` on; returns its length, 0 if there is none.
  @_noAllocation @_noLocks
  mutating func encode(
    _ samples: borrowing SampleBuffer,
    from start: Int,
    frames: FrameCount,
    into packet: inout ByteBuffer,
    at offset: Int
  ) -> Int {
    if let length = encodeOpus(samples, from: start, frames: frames, into: &packet, at: offset) {
      // A packet that DTX does not send is none to predict the next one from: libopus 1.3.1 does,
      // and packets of 2.5 ms then roar in pauses.
      let isSilence = length <= OpusVoiceEncoder.silenceBytes
      if isNextIndependent || isSilence { setIndependent(isSilence) }
      return length
    }
    let converted = toNarrowband?.convert(
      samples,
      from: start,
      count: frames,
      into: &narrowband,
      at: 0
    )
    guard let produced = converted?.produced else { return 0 }
    let count = min(produced, packet.count - offset)
    for index in 0..<count {
      packet[offset + index] = G711.encode(narrowband[index], law: law)
    }
    return count
  }

  @_noAllocation @_noLocks
  private mutating func encodeOpus(
    _ samples: borrowing SampleBuffer,
    from start: Int,
    frames: FrameCount,
    into packet: inout ByteBuffer,
    at offset: Int
  ) -> Int? {
    switch application {
    case .speech:
      return speech?.encode(samples, from: start, frames: frames, into: &packet, at: offset)
    case .lowDelay:
      return lowDelay?.encode(samples, from: start, frames: frames, into: &packet, at: offset)
    }
  }

  /// Switches to the encoder for `application`, without its history.
  @_noAllocation @_noLocks
  mutating func begin(_ application: OpusVoiceEncoder.Application, at bitrate: Int) {
    self.application = application
    switch application {
    case .speech: speech?.reset()
    case .lowDelay: lowDelay?.reset()
    }
    setBitrate(bitrate)
  }

  /// Makes the next packet decodable without those before it.
  @_noAllocation @_noLocks
  mutating func makeNextIndependent() { setIndependent(true) }

  @_noAllocation @_noLocks
  private mutating func setIndependent(_ isIndependent: Bool) {
    isNextIndependent = isIndependent
    switch application {
    case .speech: speech?.setIndependent(isIndependent)
    case .lowDelay: lowDelay?.setIndependent(isIndependent)
    }
  }

  @_noAllocation @_noLocks
  mutating func setBitrate(_ bitsPerSecond: Int) {
    switch application {
    case .speech: speech?.setBitrate(bitsPerSecond)
    case .lowDelay: lowDelay?.setBitrate(bitsPerSecond)
    }
  }

  /// Sets in-band redundancy for a loss of `percent`; low delay has none.
  @_noAllocation @_noLocks
  mutating func setExpectedLoss(percent: Int) {
    speech?.setRedundancy(enabled: percent > 0, expectedLossPercent: percent)
  }
}

/// Decoder from payloads of the stream's codec, or their absence, to frames at 48 kHz.
struct PayloadDecoder: ~Copyable {
  private var opus: OpusVoiceDecoder?
  private var telephone: G711VoiceDecoder?
  private let isOpus: Bool

  init(_ configuration: StreamConfiguration) throws {
    switch configuration.codec {
    case .opus:
      let decoder = try OpusVoiceDecoder(complexity: configuration.suitedDecoderComplexity)
      self.init(opus: decoder)
    case .pcmu, .pcma:
      let decoder = try G711VoiceDecoder(law: configuration.codec == .pcma ? .a : .mu)
      self.init(telephone: decoder)
    }
  }

  private init(opus decoder: consuming OpusVoiceDecoder) {
    isOpus = true
    opus = consume decoder
    telephone = nil
  }

  private init(telephone decoder: consuming G711VoiceDecoder) {
    isOpus = false
    opus = nil
    telephone = consume decoder
  }

  /// Returns the duration of a payload in frames at 48 kHz, nil if it is malformed or too long.
  @_noAllocation @_noLocks
  func frames(of bytes: borrowing ByteBuffer, in range: Range<Int>) -> FrameCount? {
    isOpus
      ? OpusVoiceDecoder.frames(of: bytes, in: range)
      : G711VoiceDecoder.frames(byteCount: range.upperBound - range.lowerBound)
  }

  /// Returns the length in frames of a payload's in-band FEC, which ends where the payload begins.
  @_noAllocation @_noLocks
  func redundantFrames(of bytes: borrowing ByteBuffer, in range: Range<Int>) -> FrameCount {
    isOpus ? OpusVoiceDecoder.redundantFrames(of: bytes, in: range) : 0
  }

  /// True if a payload of `count` bytes only signals that the sender fell silent (Opus DTX: the
  /// header alone).
  @_noAllocation @_noLocks
  func isSilence(byteCount count: Int) -> Bool {
    isOpus && count <= OpusVoiceEncoder.silenceBytes
  }

  /// Number of frames decoded after a loss that still depend on concealment.
  ///
  /// The value for Opus was found with `bench playout` on seeds of its own: without it, losses
  /// sounded worse, with 10 ms no better.
  var convergenceFrames: FrameCount {
    @_noAllocation @_noLocks get { isOpus ? 240 : G711VoiceDecoder.convergenceFrames }
  }

  /// Time for which the decoder's concealment is fit to play: 120 ms for Opus, while G.711's fades
  /// from 10 to 60 ms by itself.
  ///
  /// Opus may be too loud for 100 ms after it.
  var concealmentFrames: GapFiller.ConcealmentFrames {
    isOpus
      ? .init(alone: 5_760, fading: 2_880, settling: 4_800)
      : .init(alone: 480, fading: 2_400, settling: 0)
  }

  @_noAllocation @_noLocks
  mutating func decode(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer
  ) -> FrameCount {
    if let frames = opus?.decode(bytes, in: range, into: &samples) { return frames }
    return telephone?.decode(bytes, in: range, into: &samples) ?? 0
  }

  /// Decodes the in-band redundancy of a payload, which only Opus has, and returns the frames
  /// written.
  @_noAllocation @_noLocks
  mutating func recover(
    _ bytes: borrowing ByteBuffer,
    in range: Range<Int>,
    into samples: inout SampleBuffer,
    frames: FrameCount
  ) -> FrameCount {
    opus?.recover(bytes, in: range, into: &samples, frames: frames) ?? 0
  }

  @_noAllocation @_noLocks
  mutating func conceal(into samples: inout SampleBuffer, frames: FrameCount) -> FrameCount {
    if let concealed = opus?.conceal(into: &samples, frames: frames) { return concealed }
    return telephone?.conceal(into: &samples, frames: frames) ?? 0
  }

  /// Prepares the decoder for the packet after a loss of `frames`; returns false if `conceal` goes
  /// on from its own state (`OpusVoiceDecoder.pass`).
  @_noAllocation @_noLocks
  mutating func pass(_ frames: FrameCount, using scratch: inout SampleBuffer) -> Bool {
    if let isFollowed = opus?.pass(frames, using: &scratch) { return isFollowed }
    return telephone?.pass(frames, using: &scratch) ?? true
  }

  /// Makes the next `conceal` continue the sound that was decoded last.
  @_noAllocation @_noLocks
  mutating func endConcealment() {
    opus?.endConcealment()
    telephone?.endConcealment()
  }
}
