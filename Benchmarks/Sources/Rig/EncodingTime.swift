import CRawVoice
import RealTime
import Synchronization
public import VoiceEngine

/// How long an encoder works on sound before a packet of it can leave: in virtual time it would take no time.
///
/// It is that of the encoder a call begins with: the one for low delay that follows it on a clean link takes about half.
public struct EncodingTime: Sendable {
  /// Of the time that the sound lasts.
  let shareOfSound: Double

  private static let seconds = 2
  private final class Measured: Sendable {
    let nanoseconds = Atomic<Int64>(0)
  }

  /// Has libopus encode speech as `stream` does, in the time of a call, on a real-time thread of this machine.
  public init(of stream: StreamConfiguration, saying conversation: Conversation) throws {
    let speech = conversation.utterances.joined().flatMap(\.samples)
    let frames = stream.packetFrames
    let measured = Measured()
    let voice = unsafe raw_voice_open(Int32(frames), Int32(stream.bitrate), 0)
    guard let voice = unsafe voice else { throw RigError("libopus refused the setting") }
    defer { unsafe raw_voice_close(voice) }
    let address = unsafe Int(bitPattern: UnsafeRawPointer(voice))
    let thread = try RealTimeThread(name: "encoder", policy: .realTime) {
      guard let voice = unsafe OpaquePointer(bitPattern: address) else { return }
      let packets = Int32(Self.seconds * 48_000 / frames)
      let mean = unsafe raw_voice_encoding(voice, speech, Int64(speech.count), packets)
      measured.nanoseconds.store(mean, ordering: .releasing)
    }
    thread.join()
    let nanoseconds = measured.nanoseconds.load(ordering: .acquiring)
    guard nanoseconds > 0 else { throw RigError("libopus refused the speech") }
    shareOfSound = Double(nanoseconds) / 1e9 / (Double(frames) / 48_000)
  }
}
