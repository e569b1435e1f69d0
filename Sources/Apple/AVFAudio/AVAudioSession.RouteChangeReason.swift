extension AVAudioSession {
  /// Why the route changed.
  public enum RouteChangeReason: UInt, Sendable {
    /// Not known.
    case unknown = 0
    /// A device came.
    case newDeviceAvailable = 1
    /// A device went.
    case oldDeviceUnavailable = 2
    /// The category changed.
    case categoryChange = 3
    /// The app overrode the route.
    case override = 4
    /// The machine woke.
    case wakeFromSleep = 6
    /// Nothing fits the category.
    case noSuitableRouteForCategory = 7
    /// The route's own settings changed.
    case routeConfigurationChange = 8
  }
}
