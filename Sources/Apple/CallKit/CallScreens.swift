package import CallScreen
package import CallState
import Foundation

/// The call screens of this process.
///
/// With its first call, an app gets the system's: a notification on the desktop with the app's name
/// and icon, whose buttons answer, hold and end the call, and the app's ringtone. A machine without
/// a desktop rings only. **Thread safety:** any thread.
public enum CallScreens {
  /// Leaves showing and ringing to the app, which observes calls by a `CXCallObserver` and answers
  /// and ends them by a `CXCallController`.
  ///
  /// For apps with a screen of their own; iOS has no such choice.
  public static func useOwn() {
    CallSystem.shared.useOwnScreen()
  }

  /// Adds a screen that shows calls; the system's is not opened if this precedes the first call.
  package static func add(_ presenter: any CallPresenter) {
    CallSystem.shared.add(presenter: presenter)
  }

  /// Removes a screen, which is no longer updated.
  package static func remove(_ presenter: any CallPresenter) {
    CallSystem.shared.remove(presenter: presenter)
  }

  /// Sets a remark that is shown with a call, such as that it is encrypted; nil for none.
  package static func setRemark(_ remark: String?, of uuid: UUID) {
    CallSystem.shared.setRemark(remark, of: uuid)
  }

  /// Carries out a decision that the user made on a call screen.
  package static func decide(_ decision: UserDecision) {
    CallSystem.shared.decide(decision)
  }
}
