import MediaCore
import Simulation
import Testing

@testable import Playout

/// A stream in virtual time: packets of one duration, a player that pulls 2.5 ms at a time.
///
/// `send` puts packet `index` on the wire, to arrive after `delay`; `run` lets time pass, feeds
/// what has arrived and pulls, and notes what was played.
struct VirtualStream: ~Copyable {
  var buffer = JitterBuffer()
  let packetFrames: Int
  /// Frames of the previous packet that each packet carries again.
  let redundantFrames: Int
  var now = MonotonicInstant(nanoseconds: 1_000_000_000)
  var queued = 0
  var decoded: [Int64] = []
  var steps: [JitterBuffer.Step] = []
  /// Fraction of a frame played beyond whole ones.
  private var playedShare = 0.0
  private var slots: [Int: Int64] = [:]
  private var wire:
    [(arrival: Int64, sequence: Int64, mediaFrame: Int64, frames: Int, isSilence: Bool)] = []

  init(packetFrames: Int = 480, redundantFrames: Int? = nil) {
    self.packetFrames = packetFrames
    self.redundantFrames = redundantFrames ?? packetFrames
  }

  mutating func send(
    sequence: Int64,
    mediaFrame: Int64,
    at departure: Double,
    delay: Double,
    frames: Int? = nil,
    isSilence: Bool = false
  ) {
    let arrival = 1_000_000_000 + Int64((departure + delay) * 1e6)
    wire.append((arrival, sequence, mediaFrame, frames ?? packetFrames, isSilence))
  }

  /// Sends packets `range`, one each packet time, all after `delay` milliseconds.
  mutating func send(_ range: Range<Int>, delay: (Int) -> Double? = { _ in 5 }) {
    let milliseconds = Double(packetFrames) / 48
    for index in range {
      guard let delay = delay(index) else { continue }
      send(
        sequence: 70_000 + Int64(index),
        mediaFrame: 1 << 40 + Int64(index * packetFrames),
        at: Double(index) * milliseconds,
        delay: delay
      )
    }
  }

  mutating func run(milliseconds: Double) {
    wire.sort { $0.arrival < $1.arrival }
    let end = now.nanoseconds + Int64(milliseconds * 1e6)
    while now.nanoseconds < end {
      while let packet = wire.first, packet.arrival <= now.nanoseconds {
        wire.removeFirst()
        let insertion = buffer.insert(
          sequence: packet.sequence,
          mediaFrame: packet.mediaFrame,
          frames: packet.frames,
          isSilence: packet.isSilence,
          redundantFrames: redundantFrames,
          at: MonotonicInstant(nanoseconds: packet.arrival),
          wait: min(2_500_000, now.nanoseconds - packet.arrival)
        )
        if case .stored(let slot) = insertion { slots[slot] = packet.sequence }
      }
      pull()
      now = now.advanced(byNanoseconds: 2_500_000)
    }
  }

  /// Lets time pass in which packets arrive without a callback, as when a loudspeaker stalls.
  mutating func stand(milliseconds: Double) {
    now = now.advanced(byNanoseconds: Int64(milliseconds * 1e6))
  }

  /// Delay from speech to sound of the packet decoded last, in milliseconds.
  var lag: Double {
    let said = Double((decoded.last ?? 0) - 70_000 + 1) * Double(packetFrames) / 48
    return Double(now.nanoseconds - 1_000_000_000) / 1e6 + Double(queued) / 48 - said
  }

  private var correction = JitterBuffer.Correction.none

  private mutating func pull() {
    var guardCount = 0
    // As much as is read at the fastest ratio.
    while queued < 123 {
      guardCount += 1
      #expect(guardCount < 100)
      correction.leavePause()
      let step = buffer.next(at: now, queuedFrames: queued)
      steps.append(step)
      switch step {
      case .decode(let slot, let frames, _):
        decoded.append(slots[slot] ?? -1)
        queued += frames
        correction = buffer.correction(at: now, queuedFrames: queued, isQuiet: false)
        switch correction.stretch {
        case .none:
          break
        case .shorten(let limit, _):
          // An ideal stretcher, for a player without sound.
          while queued < 960, buffer.canDecodeAhead,
            case .decode(let slot, let frames, _) = buffer.next(at: now, queuedFrames: queued)
          {
            decoded.append(slots[slot] ?? -1)
            queued += frames
          }
          let removed = min(limit, max(0, queued - 120))
          queued -= removed
          buffer.noteStretch(removedFrames: removed)
        case .lengthen(let limit):
          queued += limit
          buffer.noteStretch(removedFrames: -limit)
        }
      case .decodeLate(let slot, let frames, let skipping, _):
        decoded.append(slots[slot] ?? -1)
        queued += frames - skipping
      case .recover(_, let frames, let skipping, _):
        queued += frames - skipping
      case .conceal(let frames), .comfort(let frames), .silence(let frames):
        queued += frames
      }
    }
    // An ideal resampler.
    let played = 120 * correction.ratio + playedShare
    queued -= Int(played)
    playedShare = played - played.rounded(.down)
  }

  var concealedMilliseconds: Double { Double(buffer.counters.concealedFrames) / 48 }
  var delayMilliseconds: Double { Double(buffer.delayNanoseconds) / 1e6 }
}

struct JitterBufferTests {
  static let first: Int64 = 70_000

  @Test func steadyStreamIsPlayedInOrderWithoutConcealment() {
    var stream = VirtualStream()
    stream.send(0..<500)
    stream.run(milliseconds: 4_900)
    #expect(stream.decoded == (0..<Int64(stream.decoded.count)).map { Self.first + $0 })
    #expect(stream.decoded.count > 480)
    #expect(stream.buffer.counters.concealedFrames == 0)
  }

  @Test(arguments: [120, 240, 480, 960, 1_920, 2_880])
  func steadyStreamSettlesWithinAFewMillisecondsOfTheFastestPacket(packetFrames: Int) {
    var stream = VirtualStream(packetFrames: packetFrames)
    stream.send(0..<(240_000 / packetFrames))
    stream.run(milliseconds: 4_800)
    #expect(stream.buffer.counters.concealedFrames == 0)
    #expect(stream.delayMilliseconds < 10)
  }

  @Test func reorderedPacketsArePlayedInOrder() {
    var stream = VirtualStream()
    // Every tenth packet overtakes the one before.
    stream.send(0..<400) { $0 % 10 == 3 ? 18 : 5 }
    stream.run(milliseconds: 3_900)
    #expect(stream.decoded == stream.decoded.sorted())
    #expect(stream.concealedMilliseconds < 60)
  }

  @Test func duplicatesArePlayedOnceAndCounted() {
    var stream = VirtualStream()
    stream.send(0..<200)
    stream.send(0..<200) { _ in 6 }
    stream.run(milliseconds: 1_900)
    #expect(Set(stream.decoded).count == stream.decoded.count)
    #expect(stream.buffer.counters.duplicatePackets > 150)
    #expect(stream.buffer.counters.latePackets == 0)
  }

  @Test func singleLossOnACleanNetworkCostsItsOwnLengthAndNoDelay() {
    var stream = VirtualStream()
    stream.send(0..<400) { $0 == 200 ? nil : 5 }
    stream.run(milliseconds: 3_900)
    #expect(stream.concealedMilliseconds <= 12)
    #expect(stream.delayMilliseconds < 10)
  }

  @Test func whatWasConcealedGivesWayToThePacketAsFarAsItIsUnheard() {
    var buffer = JitterBuffer()
    let begin = MonotonicInstant(nanoseconds: 1_000_000_000)
    func insert(_ index: Int64, after milliseconds: Int64) {
      _ = buffer.insert(
        sequence: index + 1,
        mediaFrame: index * 960,
        frames: 960,
        isSilence: false,
        at: begin.advanced(byNanoseconds: milliseconds * 1_000_000),
        wait: 0
      )
    }
    var clock = begin
    insert(0, after: 0)
    var step = buffer.next(at: clock, queuedFrames: 0)
    while case .silence(let frames) = step {
      clock = clock.advanced(byNanoseconds: SampleRate.voice.nanoseconds(of: frames))
      step = buffer.next(at: clock, queuedFrames: 0)
    }
    clock = clock.advanced(byNanoseconds: 20_000_000)
    #expect(buffer.next(at: clock, queuedFrames: 0) == .conceal(frames: 480))
    #expect(buffer.replaceableFrames(of: 360) == 0)
    insert(1, after: 35)
    #expect(buffer.replaceableFrames(of: 360) == 360)
    buffer.takeBack(360)
    #expect(buffer.counters.concealedFrames == 120)
    let late = buffer.next(at: clock.advanced(byNanoseconds: 2_500_000), queuedFrames: 0)
    guard case .decodeLate(_, 960, 120, 0) = late else {
      Issue.record("\(late)")
      return
    }
  }

  @Test(arguments: [120, 240, 480, 960])
  func wayThatBecomesALittleSlowerIsFollowed(frames: Int) {
    var stream = VirtualStream(packetFrames: frames)
    stream.send(0..<432_000 / frames) { $0 < 192_000 / frames ? 5 : 9 }
    stream.run(milliseconds: 8_900)
    // What is late by so little is left out once, but not over and over.
    #expect(stream.concealedMilliseconds <= 25)
  }

  @Test func packetLateByLessThanTheGapStillPlays() {
    var stream = VirtualStream()
    stream.send(0..<300) { $0 == 200 ? 40 : 5 }
    stream.run(milliseconds: 2_900)
    #expect(stream.concealedMilliseconds > 5)
    #expect(stream.buffer.counters.latePackets <= 1)
  }

  @Test(arguments: [40.0, 90, 300])
  func stallIsLeftOutAndCostsNoDelayAfterwards(milliseconds: Double) {
    var stream = VirtualStream(packetFrames: 960)
    // What was held back comes all at once.
    stream.send(0..<300) { 5 + ($0 < 250 ? 0 : max(0, milliseconds - Double($0 - 250) * 20)) }
    stream.run(milliseconds: 4_900)
    let before = stream.delayMilliseconds
    stream.run(milliseconds: 1_000)
    let late = stream.steps.contains { if case .decodeLate = $0 { true } else { false } }
    #expect(late)
    #expect(abs(stream.delayMilliseconds - before) < 3)
    #expect(stream.decoded.last == Self.first + 294)
    #expect(stream.concealedMilliseconds <= milliseconds + 10)
  }

  @Test func stallIsCaughtUpWithinThreeSeconds() {
    var stream = VirtualStream()
    // 400 ms in which nothing comes, then everything at once (Wi-Fi).
    stream.send(0..<900) { index in
      (300..<340).contains(index) ? Double(340 - index) * 10 + 5 : 5
    }
    stream.run(milliseconds: 2_900)
    let before = stream.delayMilliseconds
    stream.run(milliseconds: 3_500)
    #expect(stream.delayMilliseconds < before + 10)
  }

  @Test func secondOfBacklogIsSkippedAndNotPlayedLate() {
    var stream = VirtualStream()
    stream.send(0..<900) { index in
      (300..<420).contains(index) ? Double(420 - index) * 10 + 5 : 5
    }
    stream.run(milliseconds: 5_500)
    #expect(stream.buffer.counters.skippedPackets > 20)
    #expect(stream.delayMilliseconds < 100)
  }

  @Test func routeChangeIsRebasedInsteadOfHeldAsDepth() {
    var stream = VirtualStream()
    stream.send(0..<1_500) { $0 < 400 ? 5 : 205 }
    stream.run(milliseconds: 14_000)
    #expect(stream.delayMilliseconds < 15)
    #expect(stream.buffer.targetNanoseconds < 15_000_000)
  }

  @Test func tenSecondsOfOutageEndWithTheDelayOfBefore() {
    var stream = VirtualStream()
    stream.send(0..<300)
    stream.send(1_300..<1_700)
    stream.run(milliseconds: 2_900)
    let before = stream.delayMilliseconds
    stream.run(milliseconds: 13_500)
    #expect(stream.decoded.last.map { $0 > Self.first + 1_600 } == true)
    #expect(stream.delayMilliseconds < before + 10)
  }

  @Test func silenceOfASenderIsNotConcealed() {
    var stream = VirtualStream()
    stream.send(0..<200)
    stream.send(
      sequence: Self.first + 200,
      mediaFrame: 1 << 40 + 200 * 480,
      at: 2_000,
      delay: 5,
      isSilence: true
    )
    stream.run(milliseconds: 2_100)
    let concealed = stream.buffer.counters.concealedFrames
    stream.run(milliseconds: 60_000)
    #expect(stream.buffer.counters.concealedFrames == concealed)
    // Speech again a minute later: consecutive numbers, a leap in time.
    for index in 0..<100 {
      let at = 62_000 + Double(index) * 10
      stream.send(
        sequence: Self.first + 201 + Int64(index),
        mediaFrame: 1 << 40 + Int64(at * 48),
        at: at,
        delay: 5
      )
    }
    stream.run(milliseconds: 900)
    #expect(stream.decoded.last.map { $0 >= Self.first + 280 } == true)
    #expect(stream.buffer.counters.concealedFrames == concealed)
  }

  @Test(arguments: [48_000 * 3, -48_000 * 3])
  func timestampJumpOfTheSenderRestartsTheTimeBase(jump: Int64) {
    var stream = VirtualStream()
    stream.send(0..<200)
    for index in 200..<600 {
      stream.send(
        sequence: Self.first + Int64(index),
        mediaFrame: 1 << 40 + Int64(index * 480) + jump,
        at: Double(index) * 10,
        delay: 5
      )
    }
    stream.run(milliseconds: 5_800)
    #expect(stream.decoded.last.map { $0 > Self.first + 550 } == true)
    #expect(stream.delayMilliseconds < 20)
    #expect(stream.concealedMilliseconds < 100)
  }

  @Test func packetsOfTheOldTimeBaseAreDroppedAfterAJump() {
    var stream = VirtualStream()
    stream.send(0..<200)
    stream.send(
      sequence: Self.first + 201,
      mediaFrame: 1 << 40 - 480_000,
      at: 2_010,
      delay: 5
    )
    stream.send(sequence: Self.first + 200, mediaFrame: 1 << 40 + 96_000, at: 2_000, delay: 20)
    stream.run(milliseconds: 2_050)
    #expect(!stream.decoded.contains(Self.first + 200))
  }

  @Test func frameSizeChangeIsPlayedWithoutAGap() {
    var stream = VirtualStream()
    stream.send(0..<200)
    var frame: Int64 = 1 << 40 + 200 * 480
    var at = 2_000.0
    for (index, frames) in [960, 960, 480, 2_880, 120, 120, 120, 480, 480, 480].enumerated() {
      // A packet leaves when its last sample is there.
      at += Double(frames) / 48
      stream.send(
        sequence: Self.first + 200 + Int64(index),
        mediaFrame: frame,
        at: at - 10,
        delay: 5,
        frames: frames
      )
      frame += Int64(frames)
    }
    // The longest comes 50 ms later than the clock of the others says, which is waited for.
    stream.run(milliseconds: at + 100)
    #expect(stream.decoded.suffix(10) == (200..<210).map { Self.first + $0 })
  }

  @Test func packetAfterItsMomentIsLate() {
    var stream = VirtualStream()
    stream.send(0..<300) { $0 == 200 ? 300 : 5 }
    stream.run(milliseconds: 2_900)
    #expect(stream.buffer.counters.latePackets == 1)
    #expect(!stream.decoded.contains(Self.first + 200))
  }

  @Test func clockDriftIsAskedAwayByResampling() {
    // The sender's clock is 300 ppm fast for a minute: packets come 0.3 us earlier each ms.
    var stream = VirtualStream()
    for index in 0..<6_000 {
      stream.send(
        sequence: Self.first + Int64(index),
        mediaFrame: 1 << 40 + Int64(index * 480),
        at: Double(index) * 10 * (1 - 300e-6),
        delay: 5
      )
    }
    stream.run(milliseconds: 20_000)
    let ratio =
      stream.buffer.correction(at: stream.now, queuedFrames: 0, isQuiet: false).ratio
    #expect(ratio > 0.997 && ratio < 1.003)
    #expect(stream.buffer.counters.concealedFrames == 0)
  }

  @Test(arguments: UInt64(1)...16)
  func anyNetworkLeavesTheBufferInOrderAndBounded(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var stream = VirtualStream(packetFrames: [120, 480, 960, 2_880][Int(seed % 4)])
    let count = 600_000 / stream.packetFrames / 2
    stream.send(0..<count) { _ in
      Int.random(in: 0..<10, using: &random) == 0
        ? nil
        : Double.random(in: 0..<1, using: &random) < 0.02
          ? Double.random(in: 5..<500, using: &random)
          : Double.random(in: 5..<30, using: &random)
    }
    stream.run(milliseconds: 6_000)
    #expect(stream.decoded == stream.decoded.sorted())
    #expect(Set(stream.decoded).count == stream.decoded.count)
    #expect(stream.delayMilliseconds < 700)
  }

  @Test func whatWaitedForEverIsDroppedWithoutAShadow() {
    var stream = VirtualStream()
    stream.send(0..<400)
    stream.run(milliseconds: 2_000)
    let before = stream.lag
    stream.stand(milliseconds: 900)
    stream.run(milliseconds: 300)
    #expect(abs(stream.lag - before) <= 10, "\(before) ms before, \(stream.lag) ms after")
    #expect(stream.buffer.counters.skippedPackets > 80)
    #expect(stream.buffer.counters.concealedFrames <= 480)
  }

  @Test func whatIsLeftAfterALongStandAndALossIsNotPlayedEarly() {
    var stream = VirtualStream()
    // Jitter that wants 60 ms; then a stand, of which the end is lost.
    stream.send(0..<300) { $0 % 7 == 0 ? 65 : 5 }
    stream.send(300..<340) { _ in 5 }
    stream.send(400..<600) { $0 % 7 == 0 ? 65 : 5 }
    stream.run(milliseconds: 3_010)
    let before = stream.lag
    stream.stand(milliseconds: 1_000)
    stream.run(milliseconds: 100)
    #expect(stream.lag > before - 25, "\(before) ms before, \(stream.lag) ms after")
  }
}
