import ALSAAudio
import AVFAudio
import CLinux
import RealTime
import Testing
import UDPTransport
import VoiceEngine

/// Keys on a real voice thread, of a stream that hears itself.
struct KeyNewsTests {
  private let engine: CallEngine
  private let stream: StreamID

  init() throws {
    engine = try CallEngine(
      device: Headset(capture: .null, playback: .null),
      settings: EngineSettings()
    )
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2)
    configuration.sendEventPayloadType = 101
    configuration.receiveEventPayloadType = 101
    stream = try engine.attach(configuration, over: try MediaSocket.toItself())
  }

  /// Waits for the next news, which are there in ten seconds at most.
  private func waitForNews() throws {
    var news = pollfd(fd: engine.keyNews.descriptor, events: Int16(POLLIN), revents: 0)
    try #require(unsafe poll(&news, 1, 10_000) == 1)
    engine.keyNews.acknowledge()
  }

  @Test func newsComeForEachKeyThatTheFarSidePresses() throws {
    let pressed: [UInt8] = [5, 10, 1]
    for code in pressed { engine.press(stream, code: code) }
    var heard: [UInt8] = []
    while heard.count < pressed.count {
      try waitForNews()
      heard += engine.takeKeys(of: stream)
    }
    #expect(heard == pressed)
    engine.stop()
  }

  @Test func newsComeOfWhatAStreamHadStillToSend() throws {
    let pressed = (0..<40).map { UInt8($0 % 12) }
    for code in pressed { engine.press(stream, code: code) }
    // The first has begun: it is this stream's own.
    try waitForNews()
    engine.detach(stream, keepingKeys: true)
    var unsent: [UInt8]?
    while unsent == nil {
      try waitForNews()
      unsent = engine.takeUnsentKeys(of: stream)
    }
    let left = try #require(unsent)
    #expect(left == pressed.suffix(left.count))
    // A key and its pause last 160 ms: some are left even if this is seconds late.
    #expect(!left.isEmpty && left.count < pressed.count)
    // Told once.
    #expect(engine.takeUnsentKeys(of: stream) == [])
    engine.stop()
  }
}
