import MediaCore
import Simulation
import Testing

@testable import Playout

/// Random packets, pulls and times: a million steps, none of which traps or breaks an invariant.
struct JitterBufferFuzzTests {
  private struct Fuzz: ~Copyable {
    var buffer = JitterBuffer()
    var generator: SeededGenerator
    private var isQuiet = false
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var queued = 0
    /// Number of the newest queued frames that are concealed sound.
    var invented = 0
    var sequence: Int64 = 1 << 32
    var mediaFrame: Int64 = 1 << 40
    var frames = 960
    /// Sequence number stored in each slot; -1 for none.
    var slots = [Int64](repeating: -1, count: JitterBuffer.capacity)
    var failure: String?

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func step() {
      switch generator.next() % 16 {
      case 0..<7: insert()
      case 7..<14: pull()
      default: pass()
      }
    }

    private mutating func number(_ range: Range<Int64>) -> Int64 {
      Int64.random(in: range, using: &generator)
    }

    private mutating func insert() {
      switch generator.next() % 256 {
      case 0: mediaFrame += number(-400_000_000..<400_000_000)
      case 1: sequence += number(0..<40_000)
      case 2: (sequence, mediaFrame) = (1 << 32, 1 << 40)
      case 3: frames = [120, 240, 480, 960, 1_920, 2_880, 5_760][Int(number(0..<7))]
      case 4: buffer.restart()
      default: break
      }
      sequence += 1
      mediaFrame = max(0, mediaFrame + Int64(frames))
      // Now and then an earlier one, which is a duplicate, or one that was left out.
      let back = generator.next() % 8 == 0 ? number(0..<600) : 0
      if generator.next() % 16 == 0 { return }
      let arrival = now.advanced(byNanoseconds: -number(0..<30_000_000))
      if generator.next() % 4 == 0 { insertCopies() }
      let insertion = buffer.insert(
        sequence: max(1, sequence - back),
        mediaFrame: max(0, mediaFrame - back * Int64(frames)),
        frames: frames,
        isSilence: generator.next() % 64 == 0,
        redundantFrames: generator.next() % 2 == 0 ? frames : Int(number(0..<3)) * 480,
        at: arrival,
        wait: number(0..<30_000_000)
      )
      guard case .stored(let slot) = insertion else { return }
      guard slots.indices.contains(slot) else { return failure = "slot \(slot)" }
      slots[slot] = max(1, sequence - back)
    }

    // Of packets that came, were lost, or never were.
    private mutating func insertCopies() {
      for back in 1...3 {
        let copied = max(
          1,
          sequence - Int64(back) - (generator.next() % 32 == 0 ? number(0..<300) : 0)
        )
        let insertion = buffer.insertCopy(
          sequence: copied,
          mediaFrame: max(0, mediaFrame - Int64(back * frames)),
          frames: frames,
          isSilence: false,
          redundantFrames: generator.next() % 2 == 0 ? frames : Int(number(0..<3)) * 480,
          distance: back * frames
        )
        guard case .stored(let slot) = insertion else { continue }
        guard slots.indices.contains(slot) else { return failure = "slot \(slot) of a copy" }
        slots[slot] = copied
      }
    }

    private mutating func pull() {
      let asked = 120
      var steps = 0
      let back = buffer.replaceableFrames(of: min(queued, invented))
      if back > 0, generator.next() % 2 == 0 {
        buffer.takeBack(back)
        queued -= back
        invented -= back
      }
      let early = generator.next() % 4 == 0 ? 16 : 0
      while queued < asked || steps < early && buffer.canRepair, steps < 256 {
        steps += 1
        let isEarly = buffer.canRepair
        let step = buffer.next(at: now, queuedFrames: queued)
        check(step, isEarly: isEarly)
        switch step {
        case .decode(let slot, let frames, let lost):
          play(slot, frames, skipping: 0, after: lost)
          slots[slot] = -1
          if generator.next() % 4 != 0 { correct() }
        case .recover(let slot, let frames, let skipping, let lost):
          play(slot, frames, skipping: skipping, after: lost)
        case .decodeLate(let slot, let frames, let skipping, let lost):
          play(slot, frames, skipping: skipping, after: lost)
          slots[slot] = -1
          correct()
        case .conceal(let frames):
          take(frames)
          invented += frames
        case .comfort(let frames), .silence(let frames):
          take(frames)
          invented = 0
        }
        if buffer.concealedSinceExpected < 0 {
          failure = "\(buffer.concealedSinceExpected) concealed"
        }
      }
      if queued < asked { failure = "only \(queued) frames after \(steps) steps" }
      queued -= asked
    }

    // A step that is asked for early makes sound of the voice, if only of what replaces packets
    // that waited for ever.
    private mutating func check(_ step: JitterBuffer.Step, isEarly: Bool) {
      switch step {
      case .decode, .decodeLate, .recover, .conceal: break
      case .silence, .comfort: if isEarly { failure = "\(step) instead of a voice" }
      }
    }

    private mutating func play(_ slot: Int, _ frames: Int, skipping: Int, after lost: Int) {
      if !slots.indices.contains(slot) || slots[slot] < 0 { failure = "nothing lies in \(slot)" }
      if !(0...frames).contains(skipping) { failure = "\(skipping) of \(frames) frames left out" }
      if lost < 0 { failure = "\(lost) frames lost" }
      if skipping < frames {
        take(frames - skipping)
        invented = 0
      }
    }

    private mutating func take(_ frames: FrameCount) {
      if frames < 1 || frames > 5_760 { failure = "a step of \(frames) frames" }
      queued += frames
    }

    private mutating func correct() {
      if generator.next() % 64 == 0 { isQuiet.toggle() }
      let correction = buffer.correction(at: now, queuedFrames: queued, isQuiet: isQuiet)
      let ratio = correction.ratio
      if abs(ratio - 1) > (isQuiet ? 0.020_001 : 0.002_001) { failure = "a ratio of \(ratio)" }
      switch correction.stretch {
      case .none:
        break
      case .shorten(let frames, _):
        let removed = min(frames, max(0, queued - 120))
        queued -= removed
        buffer.noteStretch(removedFrames: removed)
      case .lengthen(let frames):
        let added = min(frames, 720)
        queued += added
        buffer.noteStretch(removedFrames: -added)
      }
    }

    private mutating func pass() {
      let isLong = generator.next() % 512 == 0
      now = now.advanced(byNanoseconds: number(0..<(isLong ? 20_000_000_000 : 20_000_000)))
      let target = buffer.targetNanoseconds
      if target < 0 || target > 2_000_000_000 { failure = "a target of \(target) ns" }
    }
  }

  @Test(arguments: UInt64(1)...8)
  func aMillionRandomStepsKeepEveryInvariant(seed: UInt64) {
    var fuzz = Fuzz(seed: seed)
    for step in 0..<125_000 {
      fuzz.step()
      guard let failure = fuzz.failure else { continue }
      Issue.record("seed \(seed), step \(step): \(failure)")
      return
    }
  }
}
