import CRawVoice
package import VoiceEngine

/// How long an encoder works on sound before a packet of it can leave: in virtual time it would
/// take no time.
///
/// It is that of the encoder a call begins with: the one for low delay that follows it on a clean
/// link takes about half.
package struct EncodingTime: Sendable {
  /// Of the time that the sound lasts.
  let shareOfSound: Double

  private static let seconds = 2

  /// Has libopus encode speech as `stream` does, in the time of a call, on a real-time thread of
  /// this machine.
  package init(of stream: StreamConfiguration, saying conversation: Conversation) throws {
    let speech = conversation.utterances.joined().flatMap(\.samples)
    let frames = stream.packetFrames
    let packets = Int32(Self.seconds * 48_000 / frames)
    let nanoseconds = try unsafe RawVoice.run(packetFrames: frames, bitrate: stream.bitrate) {
      unsafe raw_voice_encoding($0, speech, Int64(speech.count), packets)
    }
    guard nanoseconds > 0 else { throw RigError("libopus refused the speech") }
    shareOfSound = Double(nanoseconds) / 1e9 / (Double(frames) / 48_000)
  }
}
