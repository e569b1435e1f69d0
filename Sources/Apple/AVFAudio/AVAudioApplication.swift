public import Foundation

/// The process as the sound system sees it.
// SAFETY: no state of its own; the session's is behind its mutex.
open class AVAudioApplication: NSObject, @unchecked Sendable {
  /// Whether the user lets the app record.
  public enum recordPermission: Int, Sendable {
    /// Not asked yet.
    case undetermined = 1_970_168_948
    /// The user refused.
    case denied = 1_684_369_017
    /// The user agreed.
    case granted = 1_735_552_628
  }

  private static let application = AVAudioApplication()

  /// The application of this process.
  open class var shared: AVAudioApplication { application }

  /// Whether the user lets the app record; outside a sandbox always granted.
  open var recordPermission: recordPermission { .granted }

  /// Asks for permission to record; answers on an arbitrary thread.
  open class func requestRecordPermission(
    completionHandler response: @escaping @Sendable (Bool) -> Void
  ) {
    DispatchQueue.global().async { response(true) }
  }

  /// Asks for permission to record.
  open class func requestRecordPermission() async -> Bool { true }

  /// True while the microphone of the whole app is muted.
  open var isInputMuted: Bool { AVAudioSession.sharedInstance().isInputMuted }

  /// Sends silence instead of the microphone on every call, or the microphone again.
  open func setInputMuted(_ muted: Bool) throws {
    AVAudioSession.sharedInstance().setInputMuted(muted)
  }
}
