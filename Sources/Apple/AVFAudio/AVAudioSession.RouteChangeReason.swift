extension AVAudioSession {
  /// Reason of a route change.
  public enum RouteChangeReason: UInt, Sendable {
    /// Unknown.
    case unknown = 0
    /// A device became available.
    case newDeviceAvailable = 1
    /// A device became unavailable.
    case oldDeviceUnavailable = 2
    /// The category changed.
    case categoryChange = 3
    /// The app overrode the route.
    case override = 4
    /// The machine woke from sleep.
    case wakeFromSleep = 6
    /// No device suits the category.
    case noSuitableRouteForCategory = 7
    /// The route's own settings changed.
    case routeConfigurationChange = 8
  }
}
