public import Foundation
import Synchronization

/// The process as the sound system sees it.
// SAFETY: its state is behind a mutex, and so is the session's.
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

  /// The microphone of the app was muted or is no longer; `muteStateKey` says which.
  ///
  /// Posted on the thread that has changed it.
  public static let inputMuteStateChangeNotification = Notification.Name(
    "AVAudioApplicationInputMuteStateChangeNotification"
  )
  /// In `userInfo`: whether the microphone is muted, as `Bool`.
  public static let muteStateKey = "AVAudioApplicationMuteStateKey"

  private let handler = Mutex<(@Sendable (Bool) -> Bool)?>(nil)

  /// Sends silence instead of the microphone on every call, or the microphone again.
  ///
  /// Observers of `inputMuteStateChangeNotification` hear of a change. Throws
  /// `AVAudioSession.ErrorCode.isBusy` if the handler of the app refuses.
  open func setInputMuted(_ muted: Bool) throws {
    let session = AVAudioSession.sharedInstance()
    guard session.isInputMuted != muted else { return }
    if let handler = handler.withLock({ $0 }), !handler(muted) {
      throw AVAudioSession.ErrorCode.isBusy.error(reason: "the app does not mute its microphone")
    }
    session.setInputMuted(muted)
    NotificationCenter.default.post(
      name: Self.inputMuteStateChangeNotification,
      object: self,
      userInfo: [Self.muteStateKey: muted]
    )
  }

  /// Has the app itself mute its microphone as well.
  ///
  /// `inputMuteHandler` is called before each change, on its thread, and returns false to refuse;
  /// nil for no handler.
  open func setInputMuteStateChangeHandler(
    _ inputMuteHandler: (@Sendable (_ inputShouldBeMuted: Bool) -> Bool)?
  ) throws {
    handler.withLock { $0 = inputMuteHandler }
  }
}
