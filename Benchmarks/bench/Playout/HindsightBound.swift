import Codecs
import MediaCore
import RTP
import Simulation
import VoiceStream

/// The least delay with which a receiver could have played a call, had it known beforehand when
/// each packet would come, and concealed no more than another receiver did.
///
/// It may choose its delay anew for each sentence, in the pause before it. Neither the wait for the
/// loudspeaker's next request nor the time that a change takes is counted, so a receiver can have
/// less only where the path changes within a sentence.
struct HindsightBound {
  /// 2.5 ms at 48 kHz.
  private static let unitFrames = 120

  /// For each unit of the call how long after it was said the first packet came that brought it, in
  /// milliseconds.
  private var ages: [Double]

  /// A call of `seconds`, of which nothing has come.
  init(seconds: Int) {
    ages = [Double](repeating: .infinity, count: seconds * 48_000 / Self.unitFrames)
  }

  /// Notes that the frames from `first` on came at `arrival`, of which the first was said at
  /// `mouth`.
  mutating func note(
    from first: Int64,
    frames: Int64,
    mouth: MonotonicInstant,
    arrival: MonotonicInstant
  ) {
    for frame in stride(from: first, to: first + frames, by: Self.unitFrames) {
      let unit = Int(frame) / Self.unitFrames
      guard ages.indices.contains(unit) else { continue }
      let age = Double(arrival.nanoseconds(since: mouth)) / 1e6 - Double(frame - first) / 48
      ages[unit] = min(ages[unit], age)
    }
  }

  /// The mean delay over what begins at the frames `starts`, up to the last of them, in
  /// milliseconds, at which `concealedShare` of it is missing or less.
  func delay(of starts: [Int], concealedShare: Double) -> Double? {
    let sentences = zip(starts, starts.dropFirst()).map { start, end in
      Sentence(ages[start / Self.unitFrames..<end / Self.unitFrames])
    }
    let units = sentences.reduce(0) { $0 + $1.units }
    guard units > 0 else { return nil }
    let allowed = max(
      Int(concealedShare * Double(units)),
      sentences.reduce(0) { $0 + $1.lost }
    )
    // What a missing unit costs, in milliseconds over one unit: dear enough, and no dearer.
    var (cheap, dear) = (0.0, 1e9)
    for _ in 0..<60 {
      let price = (cheap + dear) / 2
      let missing = sentences.reduce(0) { $0 + $1.choice(at: price).missing }
      if missing > allowed { cheap = price } else { dear = price }
    }
    let sum = sentences.reduce(0) { $0 + $1.choice(at: dear).delay * Double($1.units) }
    return sum / Double(units)
  }

  private struct Sentence {
    let units: Int
    /// How many never came.
    let lost: Int
    /// Of those that came, the latest first.
    private let ages: [Double]

    init(_ all: ArraySlice<Double>) {
      units = all.count
      ages = all.filter(\.isFinite).sorted(by: >)
      lost = units - ages.count
    }

    func choice(at price: Double) -> (delay: Double, missing: Int) {
      guard let latest = ages.first else { return (0, lost) }
      var best = (delay: latest, missing: 0)
      for (late, delay) in ages.enumerated()
      where (delay - best.delay) * Double(units) + price * Double(late - best.missing) < 0 {
        best = (delay, late)
      }
      return (best.delay, best.missing + lost)
    }
  }
}

extension HindsightBound {
  /// Of the packets that every receiver gets.
  init(_ call: TestCall) {
    self.init(seconds: call.setting.seconds)
    for packet in call.packets {
      for first in [packet.frame, packet.frame - packet.frames]
      where first == packet.frame || packet.hasRedundancy {
        note(
          from: first,
          frames: packet.frames,
          mouth: TestCall.captured(first, drift: call.setting.drift),
          arrival: packet.arrival
        )
      }
    }
  }

  /// Notes the frames that a datagram of `call` brings, its copies included.
  mutating func note(_ datagram: [UInt8], at arrival: MonotonicInstant, of call: SimulatedCall) {
    let bytes = ByteBuffer(datagram)
    guard let packet = RTPPacket(parsing: bytes, length: datagram.count) else { return }
    func note(_ payload: Range<Int>, earlier ticks: Int, _ bound: inout HindsightBound) {
      let timestamp = packet.header.timestamp.advanced(by: -ticks)
      guard let frames = OpusVoiceDecoder.frames(of: bytes, in: payload) else { return }
      let first = call.capturedFrame(of: timestamp)
      bound.note(
        from: first,
        frames: Int64(frames),
        mouth: call.mouth(ofFrame: first),
        arrival: arrival
      )
    }
    guard packet.header.payloadType == StreamConfiguration.redundancyPayloadType else {
      return note(packet.payload, earlier: 0, &self)
    }
    var blocks = RedundantPayload(parsing: bytes, in: packet.payload)
    while let block = blocks?.next(in: bytes) {
      note(block.payload, earlier: block.timestampOffset, &self)
    }
  }
}
