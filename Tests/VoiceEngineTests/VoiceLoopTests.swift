import Foundation
import MediaCore
import RealTime
import Simulation
import SpeechDSP
import Synchronization
import Testing
import VoiceStream

@testable import VoiceEngine

/// The loop of a voice thread with a scripted sound card and far sides in virtual time.
struct VoiceLoopTests {
  private typealias Loop = VoiceLoop<ScriptedHeadset, SimulatedTransport, VirtualTime>

  /// A far side: it speaks a tone of its own and listens.
  private final class FarSide {
    let towardsUs = SimulatedLink(EmulatedNetwork(.clean, seed: 1))
    let towardsThem = SimulatedLink(EmulatedNetwork(.clean, seed: 2))
    private let hertz: Float
    private var stream: VoiceStream
    private var block = SampleBuffer(repeating: 0, count: 120)
    private var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    private var frame = 0
    private(set) var heard: [Float] = []

    init(ssrc: UInt32, tone hertz: Float) throws {
      self.hertz = hertz
      stream = try VoiceStream(.opus(ssrc: ssrc, seed: UInt64(ssrc)))
    }

    var isLeft: Bool { stream.statistics.isFarGone }

    func transport(_ time: VirtualTime) -> SimulatedTransport {
      SimulatedTransport(sending: towardsThem, receiving: towardsUs, time: time)
    }

    func turn(at now: MonotonicInstant) {
      for index in 0..<120 {
        let angle = 2 * Float.pi * hertz * Float((frame + index) % 48_000) / 48_000
        block[index] = 0.2 * sin(angle)
      }
      frame += 120
      stream.push(block, count: 120, isMuted: false)
      while let length = stream.nextPacket(into: &datagram) {
        towardsUs.send(datagram, length: length, at: now)
      }
      while let (length, arrival) = towardsThem.receive(into: &datagram, at: now) {
        stream.receive(
          datagram,
          length: length,
          at: ArrivalTime(instant: arrival, playback: arrival, wait: 0)
        )
      }
      block.fill(0, count: 120)
      stream.render(addingTo: &block, count: 120, at: now)
      for index in 0..<120 { heard.append(block[index]) }
      _ = stream.takeStatistics(at: now)
    }

    /// Amplitude of a tone in the last half second of received sound.
    ///
    /// It is the mean over windows of 10 ms (Goertzel).
    func level(of hertz: Float) -> Float {
      Self.level(of: hertz, in: Array(heard.suffix(24_000)))
    }

    static func level(of hertz: Float, in last: [Float]) -> Float {
      let angle = 2 * Float.pi * hertz / 48_000
      let windows = stride(from: 0, to: last.count - 479, by: 480).map { begin in
        var (real, imaginary): (Float, Float) = (0, 0)
        for index in 0..<480 {
          real += last[begin + index] * cos(angle * Float(index))
          imaginary += last[begin + index] * sin(angle * Float(index))
        }
        return (real * real + imaginary * imaginary).squareRoot() / 240
      }
      return windows.reduce(0, +) / Float(max(1, windows.count))
    }
  }

  /// Statistics that the loop reports to its engine.
  private final class Reports {
    private var reader: TripleBufferReader<EngineStatistics>

    init(_ reader: consuming TripleBufferReader<EngineStatistics>) { self.reader = reader }

    func newest() -> EngineStatistics? { reader.read() }
  }

  private let time = VirtualTime()
  private let card: ScriptedSoundCard
  private let signals: LoopSignals
  private let streams: VoiceStreams<SimulatedTransport>
  private let loop: Loop
  private let reports: Reports

  private static let microphone: Float = 500
  /// Amplitude below which a tone counts as absent.
  ///
  /// A voice at another frequency leaves 0.001 with libopus 1.5.
  private static let noTone: Float = 0.002

  init() throws { try self.init(EngineSettings()) }

  private init(_ settings: EngineSettings) throws {
    var script = ScriptedSoundCard.Script()
    // 480 frames hold five whole periods of the tone.
    script.sound = (0..<480).map {
      0.2 * sin(2 * Float.pi * Self.microphone * Float($0) / 48_000)
    }
    card = ScriptedSoundCard(script, time: time)
    signals = try LoopSignals()
    streams = VoiceStreams(signals)
    var reports = TripleBufferWriter<EngineStatistics>()
    self.reports = Reports(reports.makeReader())
    var changes = RingProducer<DeviceChange<ScriptedHeadset>>(capacity: 2)
    loop = try Loop(
      device: ScriptedHeadset(card),
      settings: settings,
      time: time,
      signals: signals,
      streams: streams.makeTable(),
      changes: changes.makeConsumer(),
      reports: reports,
      monitor: LoopMonitor(settings, capture: nil, playback: nil),
      stageTimes: nil
    )
    try loop.startDevice()
  }

  private func run(milliseconds: Int, _ sides: FarSide...) {
    for _ in 0..<milliseconds * 2 / 5 {
      for side in sides { side.turn(at: time.now) }
      let end = time.now.advanced(byNanoseconds: 2_500_000)
      while true {
        let next = min(loop.nextTurn ?? end, card.nextPeriod ?? end)
        guard next < end else { break }
        time.advance(to: max(next, time.now.advanced(byNanoseconds: 1)))
        loop.obey()
        loop.turn()
      }
      time.advance(to: end)
      loop.obey()
      loop.turn()
    }
  }

  @Test func bothDirectionsCarryTheirTones() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let stream = try streams.attach(.opus(ssrc: 1, seed: 2), over: bob.transport(time))
    run(milliseconds: 2_000, bob)
    #expect(bob.level(of: Self.microphone) > 0.1)
    #expect(bob.level(of: 900) < 0.02, "no far side hears itself")
    let figures = try #require(streams.statistics(of: stream))
    #expect(figures.packetsReceived > 100 && figures.packetsLost == 0)
    #expect(figures.outputPeak > 0.1, "the far side's tone is played")
    #expect(streams.statistics(of: stream) == figures, "who asks next gets the same levels")
    let loudest = card.heard.suffix(4_800).max() ?? 0
    #expect(abs(loudest - 0.2) < 0.1, "\(loudest)")
  }

  @Test func mutedMicrophoneIsSilenceOnEveryStreamAndTimeGoesOn() throws {
    let sides = [try FarSide(ssrc: 7, tone: 900), try FarSide(ssrc: 8, tone: 1_300)]
    for (index, side) in sides.enumerated() {
      _ = try streams.attach(
        .opus(ssrc: UInt32(index + 1), seed: 2),
        over: side.transport(time)
      )
    }
    signals.isInputMuted.store(true, ordering: .relaxed)
    run(milliseconds: 2_000, sides[0], sides[1])
    for side in sides { #expect(side.level(of: Self.microphone) < 0.001) }
    signals.isInputMuted.store(false, ordering: .relaxed)
    run(milliseconds: 1_000, sides[0], sides[1])
    for side in sides { #expect(side.level(of: Self.microphone) > 0.1) }
  }

  @Test func streamIsMutedFromItsFirstPacketOn() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let stream = try streams.attach(.opus(ssrc: 1, seed: 2), over: bob.transport(time), .muted)
    run(milliseconds: 1_500, bob)
    #expect(bob.heard.allSatisfy { abs($0) < 0.001 }, "not a word of a muted user is sent")
    streams.setMuted(stream, .unmuted)
    run(milliseconds: 1_000, bob)
    #expect(bob.level(of: Self.microphone) > 0.1)
  }

  @Test func membersOfAConferenceHearEachOtherAndUs() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let carol = try FarSide(ssrc: 8, tone: 1_300)
    let first = try streams.attach(
      .opus(ssrc: 1, seed: 2),
      over: bob.transport(time),
      conference: 5
    )
    _ = try streams.attach(.opus(ssrc: 2, seed: 3), over: carol.transport(time), conference: 5)
    run(milliseconds: 2_500, bob, carol)
    for (side, other) in [(bob, Float(1_300)), (carol, 900)] {
      #expect(side.level(of: other) > 0.1, "the other member: \(side.level(of: other))")
      #expect(side.level(of: Self.microphone) > 0.1, "the user")
    }
    #expect(bob.level(of: 900) < 0.02 && carol.level(of: 1_300) < 0.02)
    streams.setConference(first, 0)
    run(milliseconds: 1_500, bob, carol)
    #expect(bob.level(of: 1_300) < 0.02, "who has left hears the user alone")
    #expect(bob.level(of: Self.microphone) > 0.1)
  }

  @Test(arguments: [MuteState.unmuted, .muted])
  func aRecordingHasBothSidesAndTheFarSideHearsOfIt(state: MuteState) throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let stream = try streams.attach(.opus(ssrc: 1, seed: 2), over: bob.transport(time), state)
    run(milliseconds: 1_000, bob)
    #expect(bob.level(of: 1_400) < Self.noTone)
    streams.setRecording(stream, true)
    run(milliseconds: 400, bob)
    #expect(bob.level(of: 1_400) > 0.02, "\(bob.level(of: 1_400))")
    var sound = streams.takeRecording(of: stream)
    #expect(FarSide.level(of: 1_400, in: sound.said) > 0.02)
    run(milliseconds: 1_000, bob)
    #expect(bob.level(of: 1_400) < Self.noTone, "the tone is short")
    sound.append(streams.takeRecording(of: stream))
    #expect(abs(sound.said.count - 67_200) < 1_000, "\(sound.said.count)")
    #expect(abs(sound.heard.count - 67_200) < 1_000, "\(sound.heard.count)")
    #expect(FarSide.level(of: 900, in: sound.heard) > 0.1)
    let own = FarSide.level(of: Self.microphone, in: sound.said)
    #expect(state == .muted ? own < 0.01 : own > 0.1, "what is recorded is what was sent")

    // The tone comes again.
    run(milliseconds: 13_900, bob)
    #expect(bob.level(of: 1_400) > 0.01, "\(bob.level(of: 1_400))")
    streams.setRecording(stream, false)
    run(milliseconds: 100, bob)
    _ = streams.takeRecording(of: stream)
    run(milliseconds: 1_000, bob)
    #expect(streams.takeRecording(of: stream) == RecordedSound())
    #expect(bob.level(of: 1_400) < Self.noTone)
  }

  @Test func aFarSideThatIsNotSentTheToneIsNotRecorded() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.maySend = false
    let stream = try streams.attach(configuration, over: bob.transport(time))
    run(milliseconds: 1_000, bob)
    streams.setRecording(stream, true)
    run(milliseconds: 2_000, bob)
    let sound = streams.takeRecording(of: stream)
    #expect(FarSide.level(of: 900, in: sound.heard) == 0)
    #expect(FarSide.level(of: Self.microphone, in: sound.said) == 0)
    #expect(abs(sound.heard.count - 96_000) < 1_000, "it goes on in time")
  }

  @Test func keysDoNotTakeThePlaceOfTheTone() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.sendEventPayloadType = 101
    let stream = try streams.attach(configuration, over: bob.transport(time))
    run(milliseconds: 1_000, bob)
    for key in [1, 2, 3, 4, 5, 6] { streams.press(stream, code: UInt8(key)) }
    streams.setRecording(stream, true)
    // Six keys of 160 ms and more: longer than the tone and what is recorded without it.
    run(milliseconds: 950, bob)
    let early = streams.takeRecording(of: stream)
    #expect(FarSide.level(of: 1_400, in: early.said) < 0.001)
    #expect(FarSide.level(of: 900, in: early.heard) == 0)
    run(milliseconds: 650, bob)
    let late = streams.takeRecording(of: stream)
    #expect(FarSide.level(of: 1_400, in: late.said) > 0.02)
    #expect(FarSide.level(of: 900, in: late.heard) > 0.05)
  }

  @Test func othersOfAConferenceAreNotRecorded() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let carol = try FarSide(ssrc: 8, tone: 1_300)
    let stream = try streams.attach(
      .opus(ssrc: 1, seed: 2),
      over: bob.transport(time),
      conference: 5
    )
    _ = try streams.attach(.opus(ssrc: 2, seed: 3), over: carol.transport(time), conference: 5)
    streams.setRecording(stream, true)
    run(milliseconds: 2_000, bob, carol)
    let sound = streams.takeRecording(of: stream)
    #expect(FarSide.level(of: 1_300, in: sound.said) < 0.01)
    #expect(FarSide.level(of: 1_300, in: sound.heard) < 0.01)
    #expect(FarSide.level(of: 900, in: sound.heard) > 0.1)
    #expect(bob.level(of: 1_300) > 0.1, "they hear each other nevertheless")
  }

  @Test func streamThatEndsSaysGoodbyeAndItsTransportIsReleased() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let stream = try streams.attach(.opus(ssrc: 1, seed: 2), over: bob.transport(time))
    run(milliseconds: 500, bob)
    streams.detach(stream)
    run(milliseconds: 100, bob)
    #expect(bob.isLeft)
    #expect(streams.statistics(of: stream) == nil && streams.box(of: stream) == nil)
    let sent = bob.towardsThem.sent
    run(milliseconds: 200, bob)
    #expect(bob.towardsThem.sent == sent)
  }

  @Test func streamsBeyondTheTableAreRefusedAndRoomComesBack() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    var all: [StreamID] = []
    for index in 0..<256 {
      all.append(
        try streams.attach(.opus(ssrc: UInt32(index + 1), seed: 2), over: bob.transport(time))
      )
    }
    #expect(throws: EngineError.tooManyStreams) {
      try streams.attach(.opus(ssrc: 999, seed: 2), over: bob.transport(time))
    }
    loop.obey()
    streams.detach(all[100])
    loop.obey()
    _ = try streams.attach(.opus(ssrc: 999, seed: 2), over: bob.transport(time))
    #expect(throws: EngineError.tooManyStreams) {
      try streams.attach(.opus(ssrc: 998, seed: 2), over: bob.transport(time))
    }
  }

  @Test func commandsOfAStandstillAreAllObeyedInTheirOrder() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    let stream = try streams.attach(.opus(ssrc: 1, seed: 2), over: bob.transport(time))
    // The ring holds 1,024; the loop takes none meanwhile.
    for index in 0..<5_001 { streams.setMuted(stream, index % 2 == 0 ? .muted : .unmuted) }
    for _ in 0..<10 {
      loop.obey()
      // Whatever is asked next hands over what did not fit.
      _ = streams.statistics(of: stream)
    }
    #expect(streams.box(of: stream)?.isMuted == true, "the last word counts")
  }

  @Test func digitsCrossTheCall() throws {
    let bob = try FarSide(ssrc: 7, tone: 900)
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.sendEventPayloadType = 101
    let stream = try streams.attach(configuration, over: bob.transport(time))
    run(milliseconds: 500, bob)
    let before = bob.towardsThem.sent
    for code: UInt8 in [1, 2, 11] { streams.press(stream, code: code) }
    run(milliseconds: 1_000, bob)
    // Three digits of 100 ms with pauses are sent as events, and the voice goes on afterwards.
    #expect(bob.towardsThem.sent - before > 60)
    #expect(bob.level(of: Self.microphone) > 0.05)
    #expect(streams.takeDigits(of: stream) == [], "none was received")
  }

  /// The first captured frame was sampled by the filters' delay before it is recorded: 5 ms.
  @Test func captureOriginCountsTheFilters() throws {
    let origins = try [false, true].map { isFiltered in
      var settings = EngineSettings(measurement: .observe)
      settings.filters.noiseSuppression = isFiltered
      let test = try Self(settings)
      test.run(milliseconds: 1_000)
      return try #require(test.reports.newest()).captureOrigin
    }
    #expect(abs(origins[0] - origins[1] - 5_000_000) < 100_000, "\(origins)")
  }

  @Test func loopReportsTenTimesASecond() throws {
    run(milliseconds: 1_000)
    let figures = try #require(reports.newest())
    #expect(abs(figures.capturedFrames - 48_000) < 5_000)
    #expect(figures.inputPeak > 0.15 && figures.inputPeak < 0.25)
    #expect(figures.overruns == 0 && !figures.isDeviceGone && figures.turns > 300)
    #expect(figures.capturePeriodNanoseconds == 2_500_000)
  }
}
