import Foundation

/// Kind of media.
public struct AVMediaType: RawRepresentable, Hashable, Sendable {
  /// Four characters that name the kind.
  public let rawValue: String

  /// Creates a kind from the four characters that name it.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Sound.
  public static let audio = AVMediaType(rawValue: "soun")
  /// Video.
  public static let video = AVMediaType(rawValue: "vide")
}

/// An app's permission to record.
public enum AVAuthorizationStatus: Int, Sendable {
  /// The user has not been asked yet.
  case notDetermined = 0
  /// The app may not ask for it.
  case restricted = 1
  /// The user has refused it.
  case denied = 2
  /// The app may record.
  case authorized = 3
}

/// The permission to record, as apps ask for it; devices are opened by `AVAudioSession` alone.
///
/// A Linux program may record whatever its user may: access is always granted, without a question.
public enum AVCaptureDevice {
  /// Returns `authorized`.
  public static func authorizationStatus(for mediaType: AVMediaType) -> AVAuthorizationStatus {
    .authorized
  }

  /// Calls `handler` with true, on an arbitrary thread.
  public static func requestAccess(
    for mediaType: AVMediaType,
    completionHandler handler: @escaping @Sendable (_ granted: Bool) -> Void
  ) {
    DispatchQueue.global().async { handler(true) }
  }

  /// Returns true.
  public static func requestAccess(for mediaType: AVMediaType) async -> Bool { true }
}
