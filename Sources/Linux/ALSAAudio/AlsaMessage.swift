import CALSA
import Foundation
import RealTime

/// Messages of alsa-lib's, which it would print to standard error.
enum AlsaMessage {
  /// Keeps its complaints from now on, of which none has been made.
  // The buffer is this object file's.
  @inline(never)
  static func silence() { alsa_silence_messages() }

  /// Its first complaint since `silence`; nil if there was none.
  ///
  /// One of another thread's may be in its place.
  @inline(never)
  static func take() -> String? {
    var text = [CChar](repeating: 0, count: 256)
    unsafe alsa_take_message(&text, text.count)
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first
    return line.map { $0.trimmingCharacters(in: .whitespaces) }
  }
}

extension AudioDeviceError {
  /// The same error with what alsa-lib says about it, where this side knows less.
  func naming(_ message: String?) -> AudioDeviceError {
    guard let message, kind == .other else { return self }
    return AudioDeviceError(
      kind: kind,
      device: device,
      operation: operation,
      reason: "\(reason) (ALSA: \(message))"
    )
  }
}

extension PCM {
  /// The error of a call of alsa-lib's, in words.
  static func error(device: String, operation: String, code: CInt) -> AudioDeviceError {
    let kind: AudioDeviceError.Kind
    let reason: String
    switch -code {
    case ENOENT, ENXIO:
      kind = .notFound
      reason = "there is no such device; \"sidetone devices\" lists those there are"
    case EBUSY, EAGAIN:
      kind = .busy
      reason = "another program is using it; close that program or choose another device"
    case ENODEV:
      kind = .lost
      reason = "it is not connected"
    case EINVAL where operation == "snd_pcm_open":
      kind = .other
      reason = "it is not configured so that it can be opened"
    case EINVAL:
      kind = .unsupportedFormat
      reason = "it does not take the format that was asked for"
    default:
      kind = .other
      let text = unsafe snd_strerror(code)
      reason = unsafe text.map { unsafe String(cString: $0) } ?? "error \(code)"
    }
    return AudioDeviceError(kind: kind, device: device, operation: operation, reason: reason)
  }
}
