import CALSA
import Foundation
import RealTime

/// Error messages of alsa-lib, which would otherwise go to standard error.
enum AlsaMessage {
  /// Discards the message stored so far, and from now on stores messages instead of printing them.
  // The buffer is this object file's.
  @inline(never)
  static func silence() { alsa_silence_messages() }

  /// The first message since `silence`; nil if there was none.
  ///
  /// It may be another thread's.
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
  /// The same error with alsa-lib's message, where its kind is `other`.
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
  /// The error for a failed call of alsa-lib's, in words.
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
