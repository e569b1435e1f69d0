package import Foundation

/// A folder for a user's files (XDG Base Directory Specification).
package enum BaseFolder: String {
  /// Data files of the user.
  case data = "XDG_DATA_HOME"
  /// Configuration files of the user.
  case config = "XDG_CONFIG_HOME"
  /// State that a program keeps between its starts.
  case state = "XDG_STATE_HOME"

  private var fallback: String {
    switch self {
    case .data: ".local/share"
    case .config: ".config"
    case .state: ".local/state"
    }
  }

  /// Returns the folder that `environment` names, else the usual one in the user's home.
  ///
  /// `environment` is the process's by default; a value that is not an absolute path is ignored.
  package func url(
    in environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> URL {
    Self.url(of: rawValue, in: environment)
      ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(fallback)
  }

  /// Returns the folder for sockets and other files that last as long as the user's login.
  ///
  /// Nil unless `environment`, by default the process's, names it by an absolute path: the user's
  /// home has no substitute for it.
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
