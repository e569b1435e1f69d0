import CALSA
import Foundation
import RealTime

/// What alsa-lib says of its own accord, which it would print to standard error.
enum AlsaMessage {
  /// Keeps its complaints from now on, of which none has been made.
  // The buffer is this object file's.
  @inline(never)
  static func silence() { alsa_silence_messages() }

  /// Its first complaint on this thread since `silence`; nil if there was none.
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
