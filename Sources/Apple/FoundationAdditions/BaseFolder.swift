package import Foundation

/// Where a user's files belong (XDG Base Directory Specification).
package enum BaseFolder: String {
  /// What a program keeps for its user.
  case data = "XDG_DATA_HOME"
  /// What the user has chosen.
  case config = "XDG_CONFIG_HOME"
  /// What a program keeps for itself from one start to the next.
  case state = "XDG_STATE_HOME"

  private var fallback: String {
    switch self {
    case .data: ".local/share"
    case .config: ".config"
    case .state: ".local/state"
    }
  }

  /// The folder that `environment` names, by default the process's, or else the usual one in the
  /// user's home; what is no absolute path does not count.
  package func url(
    in environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL {
    Self.url(of: rawValue, in: environment)
      ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(fallback)
  }

  /// The folder for sockets and other files that last as long as the user's login.
  ///
  /// Nil unless `environment`, by default the process's, names it by an absolute path: the user's
  /// home has no place for it.
  package static func runtime(
    in environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL? {
    url(of: "XDG_RUNTIME_DIR", in: environment)
  }

  private static func url(of variable: String, in environment: [String: String]) -> URL? {
    guard let path = environment[variable], path.hasPrefix("/") else { return nil }
    return URL(fileURLWithPath: path)
  }
}
