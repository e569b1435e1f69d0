import DesktopServices
import Foundation
import FoundationAdditions
import LocalSocket

/// The user's running sidetone, which places the calls that later instances and the desktop
/// request.
///
/// It listens at a socket in the user's runtime folder, and is an application on the user's bus.
///
/// **Life cycle:** serves from its initializer to `close`. Without XDG_RUNTIME_DIR there is no
/// socket, and without a bus no application; then every sidetone calls for itself.
struct RunningInstance {
  private let server: LineServer?
  private let application: DesktopApplication?

  /// Starts to serve unless another sidetone does; passes addresses from later instances to `call`,
  /// links from the desktop to `open`.
  init(
    call: @escaping @Sendable (_ address: String) -> Void,
    open: @escaping @Sendable (_ link: String) -> Void
  ) {
    server = Self.path().flatMap { path in
      LineServer(path: path) { address in
        guard !address.isEmpty else { return nil }
        call(address)
        return "ok"
      }
    }
    application = DesktopApplication(name: DesktopEntry.name, open: open)
  }

  func close() {
    server?.close()
    application?.close()
  }

  /// Asks the running sidetone to call an address; false if none runs.
  static func handOver(_ address: String) -> Bool {
    path().flatMap { LineClient.ask(address, at: $0) } == "ok"
  }

  private static func path() -> String? {
    BaseFolder.runtime()?.appendingPathComponent("sidetone.sock").path
  }
}
