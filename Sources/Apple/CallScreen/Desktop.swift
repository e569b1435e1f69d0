package import CallState
import DesktopServices

/// The user's desktop, as far as it shows calls.
package enum Desktop {
  /// A call screen on the desktop.
  ///
  /// The notification server where there is one, since it reports when the user closes a
  /// notification; else, as in a sandbox, the portal.
  ///
  /// - Parameters:
  ///   - address: the bus; by default the user's.
  ///   - decide: carries out what the user decided.
  ///   - callBack: calls a handle.
  ///   - offersCallBack: false while nothing could call back.
  ///   - cannotShow: told why calls are not shown, at most once.
  /// - Returns: the screen; nil where there is no bus.
  package static func callScreen(
    address: String? = nil,
    decide: @escaping @Sendable (UserDecision) -> Void,
    callBack: @escaping @Sendable (CallHandle) -> Void,
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
