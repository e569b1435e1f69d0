import ALSAAudio
import AVFAudio
import CLinux
import RealTime
import SRTP
import Testing
import UDPTransport
import VoiceEngine

/// DTMF digits on a real voice thread, of a stream that receives its own packets.
struct DigitNewsTests {
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
    stream = try engine.streams.attach(configuration, over: try SecureTransport(open: .toItself()))
  }

  /// Waits for the next news, which are there in ten seconds at most.
  private func waitForNews() throws {
    var news = pollfd(fd: engine.streams.digitNews.descriptor, events: Int16(POLLIN), revents: 0)
    try #require(unsafe poll(&news, 1, 10_000) == 1)
    engine.streams.digitNews.acknowledge()
  }

  @Test func newsComeForEachKeyThatTheFarSidePresses() throws {
    let pressed: [UInt8] = [5, 10, 1]
    for code in pressed { engine.streams.press(stream, code: code) }
    var heard: [UInt8] = []
    while heard.count < pressed.count {
      try waitForNews()
      heard += engine.streams.takeDigits(of: stream)
    }
    #expect(heard == pressed)
    engine.stop()
  }
}
