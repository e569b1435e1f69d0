package import CallState
import DesktopServices

/// The user's desktop, as a place to show calls.
package enum Desktop {
  /// Creates a call screen on the desktop.
  ///
  /// Uses the notification server where there is one, since it reports when the user closes a
  /// notification; else, as in a sandbox, the portal.
  ///
  /// - Parameters:
  ///   - address: address of the bus; by default the user's.
  ///   - decide: carries out the user's decision.
  ///   - callBack: calls the handle in the details of a missed call.
  ///   - offersCallBack: returns false while no app can call back.
  ///   - cannotShow: called at most once, with the reason why calls are not shown.
  /// - Returns: the screen; nil where there is no bus.
  package static func callScreen(
    address: String? = nil,
    decide: @escaping @Sendable (UserDecision) -> Void,
    callBack: @escaping @Sendable (CallDetails) -> Void,
    offersCallBack: @escaping @Sendable () -> Bool = { true },
    cannotShow: @escaping @Sendable (_ reason: String) -> Void = { _ in }
  ) -> (any CallPresenter)? {
    let desktop = LastingBus(address: address)
    guard let bus = desktop.bus else {
      cannotShow("there is no session bus")
      return nil
    }
    let deeds = CallNotification.NotificationActions(
      decide: decide,
      callBack: callBack,
      offersCallBack: offersCallBack
    )
    let hasPortalOnly =
      !bus.hasService(DesktopCallScreen.service) && bus.hasService(PortalCallScreen.service)
    return hasPortalOnly
      ? PortalCallScreen(on: desktop, deeds: deeds)
      : DesktopCallScreen(on: desktop, deeds: deeds, cannotShow: cannotShow)
  }
}
