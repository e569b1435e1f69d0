import Testing

@testable import Simulation

/// Captures of networks that stand still now and then, which change neither the sender's clock nor
/// its timestamps.
struct StalledStreamTests {
  private typealias Stream = CaptureScene.Stream

  private func found(_ streams: Stream..., said: String? = nil) -> [CapturedStream] {
    var scene = CaptureScene()
    if let said {
      let body = "v=0\r\nc=IN IP4 192.0.2.20\r\nm=audio 30000 RTP/AVP 97\r\na=rtpmap:97 \(said)\r\n"
      scene.add(
        datagram: Array(
          ("INVITE sip:a@h SIP/2.0\r\nContent-Type: application/sdp\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8
        )
      )
    }
    for stream in streams { scene.add(stream) }
    return scene.streams()
  }

  private static let seconds = [500..<550, 1_200..<1_250, 2_000..<2_050]

  /// One stall of three seconds, three of one, and a late packet at either end.
  @Test(arguments: [[700..<850], seconds, [2_999..<3_030], [0..<30]], [320, 960])
  func aStallDoesNotChangeTheClock(stalls: [Range<Int>], ticks: Int) throws {
    let stream = try #require(
      found(Stream(payloadType: 96, ticks: ticks, seconds: 60, jitter: 0.5, stalls: stalls)).first
    )
    #expect(stream.format.clockRate == 50 * ticks, "\(stream.summary)")
    #expect(stream.delay(0.5) < 10 && stream.beginnings == 1, "\(stream.summary)")
  }

  /// A description is believed, unless it cannot be true.
  @Test func aDescribedClockIsBelieved() throws {
    for seconds in [0.2, 0.5, 60] {
      let stream = try #require(
        found(
          Stream(payloadType: 97, ticks: 320, seconds: seconds, jitter: 30, stalls: Self.seconds),
          said: "AMR-WB/16000"
        ).first
      )
      #expect(stream.format.clockRate == 16_000 && stream.format.name == "AMR-WB")
    }
    let other = try #require(found(Stream(payloadType: 97, ticks: 960), said: "AMR/8000").first)
    #expect(other.format.clockRate == 48_000)
  }

  /// A queue stands for half a minute, after a stall of 0.7 s and after one of 5 s.
  @Test(arguments: [35, 250]) func aQueueThatStandsForLongIsDelay(count: Int) throws {
    let stream = try #require(
      found(
        Stream(
          seconds: 120,
          jitter: 0.5,
          stalls: [(1_500 - count)..<1_500],
          queue: (1_500..<3_000, 20 * Double(count))
        )
      ).first
    )
    #expect(stream.beginnings == 1 && stream.delay(0.5) < 10, "\(stream.summary)")
    #expect(abs(stream.delay(1) - 20 * Double(count)) < 50, "\(stream.summary)")
  }

  @Test(arguments: [5, 10, 25]) func aCaptureMayEndInAStall(count: Int) throws {
    let stream = try #require(
      found(Stream(jitter: 0.5, stalls: [(1_000 - count)..<1_035])).first
    )
    #expect(stream.beginnings == 1 && stream.delay(1) > 650, "\(stream.summary)")
  }

  /// A short sound that is sent again and again, with the same numbers and timestamps.
  @Test func aLoopIsNoCopy() throws {
    var scene = CaptureScene()
    for round in 0..<8 {
      scene.add(Stream(seconds: 1.5, jitter: 0.5, begin: 1_000 + 1_500 * Double(round)))
    }
    let stream = try scene.taken()
    #expect(stream.received == 600 && stream.duplicates == 0 && stream.restarts == 7)
  }

  @Test func aStaticTypeMayHaveAnotherClock() throws {
    let stream = try #require(found(Stream(payloadType: 9, ticks: 320, jitter: 0.5)).first)
    #expect(stream.format.clockRate == 16_000 && stream.jitter.most < 5, "\(stream.summary)")
  }

  /// Comfort noise has few bytes, as DTMF digits have.
  @Test func describedComfortNoiseIsNoKey() throws {
    let said = "PCMA/8000\r\na=rtpmap:98 CN/8000"
    let stream = try #require(
      found(
        Stream(payloadType: 97, jitter: 0.5),
        Stream(payloadType: 98, seconds: 0.04, payloadLength: 11, begin: 1_005),
        said: said
      ).first
    )
    #expect(stream.keys == 0, "\(stream.summary)")
  }
}
