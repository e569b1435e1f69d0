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
    if let path = environment[rawValue], path.hasPrefix("/") { return URL(fileURLWithPath: path) }
    return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(fallback)
  }
}
