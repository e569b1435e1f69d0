import MediaCore
import Testing

@testable import RTP
@testable import VoiceStream

/// Packet duration, bit rate and redundancy, chosen from the far side's reports.
struct SendingPlannerTests {
  /// A planner, and a far side that reports every two seconds.
  private struct Link: ~Copyable {
    var planner: SendingPlanner
    var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    var tellsLosses = true
    private var map = LossMap()
    private var sequence: Int64 = 70_000

    init(_ configure: (inout StreamConfiguration) -> Void = { _ in }) {
      var configuration = StreamConfiguration.opus(ssrc: 9, seed: 1, withCopies: true)
      configuration.adaptsPackets = true
      configure(&configuration)
      planner = SendingPlanner(configuration)
      map.begin(at: sequence)
    }

    mutating func report(
      losing runs: [Int] = [],
      jitter: Int64 = 0,
      roundTrip: Int64 = 20_000_000
    ) {
      now = now.advanced(byNanoseconds: 2_000_000_000)
      let end = sequence + 200
      for run in runs {
        map.note(sequence)
        sequence += Int64(run) + 1
      }
      while sequence < end {
        map.note(sequence)
        sequence += 1
      }
      var packet = ByteBuffer(repeating: 0, count: RTCPWriter.maximumLength)
      let block = RTCPReportBlock(
        ssrc: 9,
        fractionLost: UInt8(runs.reduce(0, +) * 256 / 200)
      )
      let length = RTCPWriter.write(
        to: &packet,
        ssrc: 4,
        sender: nil,
        block: block,
        losses: &map,
        tellsLosses: tellsLosses,
        canonicalName: 1,
        isGoodbye: false
      )
      var reader = RTCPReader()
      while let item = reader.next(in: packet, length: length) {
        switch item {
        case .losses(_, let runs):
          planner.receive(runs, in: packet, at: now)
        case .report(_, let block):
          planner.receive(
            fractionLost: Int(block.fractionLost),
            jitterNanoseconds: jitter,
            roundTripNanoseconds: roundTrip,
            at: now
          )
        case .senderInformation, .goodbye:
          break
        }
      }
      planner.decide(at: now)
    }

    /// Sends reports without losses until packets are short; returns their number, at most 100.
    mutating func reportsUntilShort() -> Int {
      var reports = 0
      while !planner.plan.isLowDelay, reports < 100 {
        report()
        reports += 1
      }
      return reports
    }
  }

  @Test func callBeginsAsOnACleanLinkAndStaysSoOnOne() {
    var link = Link()
    for _ in 0..<4 {
      #expect(link.planner.plan.packetFrames == 120 && link.planner.plan.isLowDelay)
      #expect(link.planner.plan.bitrate == 128_000 && link.planner.plan.redundancyDepth == 0)
      link.report()
    }
  }

  /// Packets of 2.5 ms need a link without loss and with little jitter; a little of either ends
  /// them but leaves packets of 5 ms.
  @Test func shortestPacketsEndWithALittleTroubleAndComeBack() {
    var link = Link()
    link.report(jitter: 6_000_000)
    #expect(link.planner.plan.packetFrames == 240 && link.planner.plan.bitrate == 96_000)
    for _ in 0..<4 { link.report(jitter: 1_000_000) }
    #expect(link.planner.plan.packetFrames == 120)
    link.report(losing: [1, 1])
    #expect(link.planner.plan.packetFrames == 240)
    var reports = 0
    while link.planner.plan.packetFrames != 120, reports < 100 {
      link.report()
      reports += 1
    }
    // Longer than the four seconds of the first time.
    #expect(reports > 4 && reports < 60)
  }

  /// Packets of 2.5 ms gain nothing if the microphone delivers 5 ms at a time.
  @Test func packetsAreNotShorterThanWhatComesAtOnce() {
    var link = Link()
    for _ in 0..<3 {
      for _ in 0..<400 { link.planner.noteBlock(of: 240) }
      link.report()
      #expect(link.planner.plan.packetFrames == 240)
    }
    // One late look at the microphone is no habit.
    for _ in 0..<700 { link.planner.noteBlock(of: 128) }
    link.planner.noteBlock(of: 1_024)
    link.report()
    #expect(link.planner.plan.packetFrames == 120)
  }

  @Test func reportsWithoutSoundBetweenThemTellNothingOfTheMicrophone() {
    var link = Link()
    for _ in 0..<400 { link.planner.noteBlock(of: 240) }
    for _ in 0..<3 {
      link.report()
      #expect(link.planner.plan.packetFrames == 240)
    }
  }

  /// Timestamp offsets of redundant copies have 14 bits.
  @Test func copiesOfLongPacketsAreNotOlderThanTheyCanSay() {
    var link = Link {
      $0.adaptsPackets = false
      $0.packetFrames = 2_880
      $0.bitrate = 24_000
    }
    let bursts = [Int](repeating: 8, count: 8)
    for _ in 0..<3 { link.report(losing: bursts) }
    #expect(link.planner.plan.redundancyReach == 5)
    // An echo has the far side's packets.
    var echo = Link()
    echo.planner.lengthenPackets(to: 2_880)
    for _ in 0..<3 { echo.report(losing: bursts) }
    #expect(echo.planner.plan.packetFrames == 2_880 && echo.planner.plan.redundancyReach == 5)
  }

  @Test func firstTroubleEndsTheBeginningAndACleanLinkGetsShortPacketsAfterAWhile() {
    var link = Link()
    link.report(losing: [4, 4])
    #expect(link.planner.plan.packetFrames == 480 && !link.planner.plan.isLowDelay)
    let reports = link.reportsUntilShort()
    #expect(reports > 2 && reports < 30)
  }

  @Test func farSideThatNeverReportsGetsLongPacketsInTheEnd() {
    var link = Link()
    link.planner.advance(to: link.now)
    link.planner.advance(to: link.now.advanced(byNanoseconds: 9_000_000_000))
    #expect(link.planner.plan.isLowDelay)
    link.planner.advance(to: link.now.advanced(byNanoseconds: 11_000_000_000))
    #expect(!link.planner.plan.isLowDelay && link.planner.plan.packetFrames == 480)
  }

  @Test(arguments: [(1, 1, 1), (2, 2, 2), (3, 3, 3), (6, 3, 6), (12, 3, 8)])
  func copiesReachAsFarAsTheBursts(burst: Int, depth: Int, reach: Int) {
    var link = Link()
    let bursts = [Int](repeating: burst, count: burst < 3 ? 8 : 3)
    for _ in 0..<3 { link.report(losing: bursts) }
    #expect(link.planner.plan.redundancyDepth == depth)
    #expect(link.planner.plan.redundancyReach == reach)
    #expect(link.planner.plan.packetFrames == 480)
    let total = link.planner.plan.bitrate * (depth + 1)
    #expect(total <= 200_000)
  }

  /// One burst of six in 300 packets is lost.
  ///
  /// Each packet by which the copy is sent later recovers another third of a percent.
  @Test(arguments: [(0, 1), (3_000_000, 1), (8_000_000, 4), (24_000_000, 6)])
  func rareLongBurstsAreWaitedForAsLongAsJitterIs(jitter: Int64, reach: Int) {
    var link = Link { $0.adaptsPackets = false }
    for burst in [[6], [], [6]] { link.report(losing: burst, jitter: jitter) }
    #expect(link.planner.plan.packetFrames == 480)
    #expect(link.planner.plan.redundancyDepth == 1)
    #expect(link.planner.plan.redundancyReach == reach)
  }

  @Test func lossEndsLowDelayAtOnceAndItComesBackLater() {
    var link = Link()
    for _ in 0..<4 { link.report() }
    #expect(link.planner.plan.isLowDelay)
    link.report(losing: [4, 4, 4, 4, 4])
    #expect(!link.planner.plan.isLowDelay && link.planner.plan.redundancyDepth > 0)
    let reports = link.reportsUntilShort()
    // Longer than the four seconds of the first time.
    #expect(reports > 4 && reports < 100)
  }

  @Test func jitterAloneEndsLowDelay() {
    var link = Link()
    for _ in 0..<4 { link.report() }
    link.report(jitter: 8_000_000)
    #expect(link.planner.plan.isLowDelay)
    link.report(jitter: 24_000_000)
    #expect(!link.planner.plan.isLowDelay && link.planner.plan.redundancyDepth == 0)
  }

  /// The loss is that of many networks: copies cost less delay than longer packets.
  @Test func shortPacketsHaveCopiesWhereAFewAreLost() {
    var link = Link()
    for _ in 0..<4 { link.report(losing: [1, 1]) }
    let plan = link.planner.plan
    #expect(plan.isLowDelay && plan.packetFrames == 240)
    #expect(plan.redundancyDepth == 1 && plan.redundancyReach == 1)
    // All of it together: IPv4, UDP and RTP take 64 kb/s of it.
    let total = plan.bitrate * 2 + 64_000
    #expect(total <= 256_000 && plan.bitrate == 96_000)
  }

  @Test func oneLossIsBorneOnACleanLink() {
    var link = Link()
    for _ in 0..<4 { link.report() }
    link.report(losing: [1])
    #expect(link.planner.plan.isLowDelay)
  }

  @Test func queuesOnTheWayLowerTheRate() {
    var link = Link()
    link.report()
    for _ in 0..<6 { link.report(losing: [3, 3, 3, 3], roundTrip: 400_000_000) }
    let plan = link.planner.plan
    #expect(plan.bitrate * (plan.redundancyDepth + 1) <= 72_000)
    #expect(plan.packetFrames == 960 && plan.bitrate >= 24_000)
    // And when the way is free again, so are we.
    for _ in 0..<60 { link.report() }
    #expect(link.planner.plan.bitrate >= 48_000)
  }

  @Test func slowerWayIsNoQueueForEver() {
    var link = Link()
    for _ in 0..<3 { link.report(losing: [3, 3]) }
    // From now on each round trip takes 200 ms longer, with the same losses.
    for _ in 0..<120 { link.report(losing: [3, 3], roundTrip: 220_000_000) }
    #expect(link.planner.plan.bitrate == 48_000 && link.planner.plan.packetFrames == 480)
    #expect(link.planner.plan.redundancyDepth == 3)
  }

  @Test func farSideThatFallsSilentGetsLongPacketsAgain() {
    var link = Link()
    for _ in 0..<4 { link.report() }
    #expect(link.planner.plan.isLowDelay)
    link.planner.advance(to: link.now.advanced(byNanoseconds: 9_000_000_000))
    #expect(link.planner.plan.isLowDelay)
    link.planner.advance(to: link.now.advanced(byNanoseconds: 11_000_000_000))
    #expect(!link.planner.plan.isLowDelay && link.planner.plan.packetFrames == 480)
  }

  @Test func reportsWithoutRunsGetOneCopy() {
    var link = Link()
    link.tellsLosses = false
    for _ in 0..<3 { link.report(losing: [3, 3, 3]) }
    #expect(link.planner.plan.redundancyDepth == 1 && !link.planner.plan.isLowDelay)
    for _ in 0..<60 { link.report() }
    #expect(link.planner.plan.isLowDelay)
  }

  /// A single copy is sent late enough to outlast the longer bursts.
  @Test func oneCopyIsSentLaterWhereThereAreBurstsOfTwo() {
    var link = Link()
    for report in 0..<8 { link.report(losing: report % 4 == 0 ? [] : [2]) }
    let plan = link.planner.plan
    #expect(plan.redundancyDepth == 1 && plan.redundancyReach == 2)
  }

  @Test func whoSetsPacketsGetsThemAndCopiesAllTheSame() {
    var link = Link {
      $0.adaptsPackets = false
      $0.packetFrames = 960
      $0.bitrate = 32_000
    }
    for _ in 0..<10 { link.report() }
    #expect(link.planner.plan.packetFrames == 960 && link.planner.plan.bitrate == 32_000)
    for _ in 0..<3 { link.report(losing: [2, 2, 2]) }
    #expect(link.planner.plan.packetFrames == 960 && link.planner.plan.bitrate == 32_000)
    #expect(link.planner.plan.redundancyDepth == 2)
  }

  @Test func farSideWithoutCopiesGetsInBandRedundancy() {
    var link = Link {
      $0.sendRedundancyPayloadType = nil
      $0.adaptsPackets = false
    }
    link.report(losing: [5, 5])
    #expect(link.planner.plan.expectedLossPercent == 5)
    #expect(link.planner.plan.redundancyDepth == 0 && link.planner.plan.packetFrames == 480)
    for _ in 0..<8 { link.report() }
    #expect(link.planner.plan.expectedLossPercent == 0)
  }
}
