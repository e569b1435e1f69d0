import CWebRTCAudio
import MediaCore
import ProgramRig
import SpeechDSP

/// Filters of a call, ours or WebRTC's, over a whole sound at 48 kHz.
enum FilterUnderTest {
  /// No filter.
  case none
  /// SpeexDSP as a call runs it, over blocks of so many frames.
  case sidetone(blockFrames: Int)
  /// WebRTC's audio processing, over blocks of 10 ms.
  case webRTC

  static let all: [FilterUnderTest] = [
    .none, .sidetone(blockFrames: 240), .webRTC,
  ]

  var name: String {
    switch self {
    case .none: "none"
    case .sidetone(let frames): "sidetone, \(Double(frames) / 48) ms"
    case .webRTC: "WebRTC, 10 ms"
    }
  }

  /// Returns the filtered sound of a microphone, shortened to whole blocks; `far` is what the
  /// loudspeaker played.
  func filter(
    _ microphone: [Float],
    far: [Float],
    _ settings: SpeechFilterSettings
  ) throws -> [Float] {
    switch self {
    case .none:
      return microphone
    case .sidetone(let frames):
      var filter = try SpeechFilter(settings, blockFrames: frames)
      return try blocks(of: microphone, far, frames) { near, far in
        filter.process(&near, far: far)
      }
    case .webRTC:
      let audio = unsafe webrtc_audio_alloc(
        settings.echoCancellation ? 1 : 0,
        settings.noiseSuppression ? 1 : 0,
        settings.gainControl ? 1 : 0
      )
      guard let audio = unsafe audio else { throw RigError("no memory for WebRTC's filters") }
      defer { unsafe webrtc_audio_free(audio) }
      return try blocks(of: microphone, far, 480) { near, far in
        guard unsafe webrtc_audio_process(audio, near.address, far.address) == 0 else {
          throw RigError("WebRTC's filters refuse a block")
        }
      }
    }
  }

  private func blocks(
    of microphone: [Float],
    _ far: [Float],
    _ frames: Int,
    _ body: (inout SampleBuffer, borrowing SampleBuffer) throws -> Void
  ) throws -> [Float] {
    var output: [Float] = []
    output.reserveCapacity(microphone.count)
    for start in stride(from: 0, through: min(microphone.count, far.count) - frames, by: frames) {
      var near = SampleBuffer(Array(microphone[start..<start + frames]))
      try body(&near, SampleBuffer(Array(far[start..<start + frames])))
      for index in 0..<frames { output.append(near[index]) }
    }
    return output
  }
}
