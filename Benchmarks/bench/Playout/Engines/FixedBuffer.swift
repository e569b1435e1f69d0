import MediaCore

/// A receiver with a fixed delay, counted from the arrival of the first packet.
///
/// It begins anew after a second without a packet in time.
final class FixedBuffer: PlayoutUnderTest {
  let name: String
  let pullFrames = 120
  private(set) var concealedFrames: Int64 = 0
  private let delay: Int64
  private let packetFrames: Int64
  private var decoder: PayloadPlayer
  private var stored: [Int64: ArrivedPacket] = [:]
  private var sound: [Float] = []
  /// Instant at which frame 0 sounds, in nanoseconds; nil until a packet has come.
  private var origin: Int64?
  private var expected: Int64 = 0
  private var isConcealing = false
  private var missing: Int64 = 0

  init(milliseconds: Int, packetFrames: Int64) throws {
    name = "fixed \(milliseconds) ms"
    delay = Int64(milliseconds) * 1_000_000
    self.packetFrames = packetFrames
    decoder = try PayloadPlayer()
  }

  var position: (frame: Int64, queued: Int)? {
    origin == nil || isConcealing ? nil : (expected, sound.count)
  }

  func receive(_ packet: ArrivedPacket) {
    if missing > 48_000 {
      origin = nil
      stored = [:]
      missing = 0
    }
    if origin == nil {
      let due = packet.arrival.nanoseconds + delay
      origin = due - packet.frame * 62_500 / 3
      expected = packet.frame
    }
    if packet.frame >= expected { stored[packet.frame] = packet }
  }

  func render(into output: inout [Float], at instant: MonotonicInstant) {
    while sound.count < pullFrames {
      guard let origin else {
        sound += [Float](repeating: 0, count: pullFrames)
        break
      }
      let playing = (instant.nanoseconds - origin) * 3 / 62_500 + Int64(sound.count)
      // Until the first one is due.
      guard playing >= expected - 60 else {
        let silent = min(Int64(pullFrames), expected - playing)
        sound += [Float](repeating: 0, count: Int(silent))
        continue
      }
      step()
    }
    output.append(contentsOf: sound.prefix(pullFrames))
    sound.removeFirst(pullFrames)
  }

  private func step() {
    if let packet = stored.removeValue(forKey: expected) {
      sound += decoder.decode(packet)
      expected += packet.frames
      isConcealing = false
      missing = 0
    } else if let next = stored[expected + packetFrames], next.hasRedundancy {
      sound += decoder.recover(next)
      expected += packetFrames
      missing = 0
    } else {
      let frames = min(480, packetFrames)
      sound += decoder.conceal(Int(frames))
      concealedFrames += frames
      expected += frames
      missing += frames
      isConcealing = true
      // Packets are known by their first frame: the second half of a lost one is lost as well.
      stored = stored.filter { $0.key >= expected }
    }
  }
}
