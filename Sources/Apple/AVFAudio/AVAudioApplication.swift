public import Foundation
import Synchronization

/// The app's process, with its permission to record and the mute state of its microphone.
// SAFETY: its state is behind a mutex, and so is the session's.
open class AVAudioApplication: NSObject, @unchecked Sendable {
  /// The user's permission to record.
  public enum recordPermission: Int, Sendable {
    /// Not decided yet.
    case undetermined = 1_970_168_948
    /// The user refused.
    case denied = 1_684_369_017
    /// The user agreed.
    case granted = 1_735_552_628
  }

  private static let application = AVAudioApplication()

  /// The application of this process.
  open class var shared: AVAudioApplication { application }

  /// The user's permission to record: always `granted`, since the desktop is not asked.
  open var recordPermission: recordPermission { .granted }

  /// Calls `response` with true, on an arbitrary thread; the desktop is not asked for permission.
  @preconcurrency
  open class func requestRecordPermission(
    completionHandler response: @escaping @Sendable (Bool) -> Void
  ) {
    DispatchQueue.global().async { response(true) }
  }

  /// Returns true; the desktop is not asked for permission.
  open class func requestRecordPermission() async -> Bool { true }

  /// True while the microphone of the whole app is muted.
  open var isInputMuted: Bool { AVAudioSession.sharedInstance().isInputMuted }

  /// Posted when the app's microphone was muted or unmuted; `muteStateKey` holds the new state.
  ///
  /// Posted on the thread that made the change.
  public static let inputMuteStateChangeNotification = Notification.Name(
    "AVAudioApplicationInputMuteStateChangeNotification"
  )
  /// Key in `userInfo` of a `Bool`, true if the microphone is muted.
  public static let muteStateKey = "AVAudioApplicationMuteStateKey"

  private let handler = Mutex<(@Sendable (Bool) -> Bool)?>(nil)

  /// Mutes the microphone on every call, or unmutes it; while muted, silence is sent in its place.
  ///
  /// Posts `inputMuteStateChangeNotification` on a change. Throws `AVAudioSession.ErrorCode.isBusy`
  /// if the app's handler refuses.
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

  /// Sets the app's own handler for muting its microphone; nil for none.
  ///
  /// `inputMuteHandler` is called before each change, on the thread that makes it, and returns
  /// false to refuse.
  @preconcurrency
  open func setInputMuteStateChangeHandler(
    _ inputMuteHandler: (@Sendable (_ inputShouldBeMuted: Bool) -> Bool)?
  ) throws {
    handler.withLock { $0 = inputMuteHandler }
  }
}
