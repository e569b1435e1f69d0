import Foundation
import FoundationAdditions
import LocalSocket
import Logging
import Synchronization

/// The socket that receives an app's pushes, and the token that pushes must contain.
///
/// **Life cycle:** serves from its initializer to `close`. **Thread safety:** events come on the
/// queue of the initializer, the token before every push.
final class PushReceiver: Sendable {
  /// An event for the app.
  enum Event: Sendable {
    case token(Data)
    case push(PushPayload)
    case invalidated
  }

  /// The token: 32 random bytes.
  let token: Data
  private let server: LineServer
  private let tokenFile: URL

  /// Loads the token and opens the socket in the folders of `environment`.
  ///
  /// Returns nil, with a line in the log, if that is not possible.
  init?(
    environment: [String: String],
    queue: DispatchQueue,
    _ event: @escaping @Sendable (Event) -> Void
  ) {
    let log = Logger(label: "org.sidetone.pushkit")
    let topic = Self.topic
    guard let runtime = BaseFolder.runtime(in: environment) else {
      log.warning("No pushes: XDG_RUNTIME_DIR is not set to an absolute path.")
      return nil
    }
    let folder = runtime.appendingPathComponent("push")
    tokenFile = BaseFolder.state.url(in: environment)
      .appendingPathComponent("push/\(topic).voip.token")
    // A push may wait already, and must not come before the token.
    let hasToken = Mutex(())
    do {
      try Self.makeFolder(folder)
      let token = try Self.token(keptIn: tokenFile)
      let path = folder.appendingPathComponent("\(topic).voip.sock").path
      let server = hasToken.withLock { _ -> LineServer? in
        let server = LineServer(path: path) { line in
          hasToken.withLock { _ in
            do throws(PushRequest.Refusal) {
              let request = try PushRequest(line, token: token)
              queue.async { event(.push(request.payload)) }
              return PushRequest.answer(nil)
            } catch {
              return PushRequest.answer(error)
            }
          }
        }
        if server != nil { queue.async { event(.token(token)) } }
        return server
      }
      guard let server else {
        log.warning("No pushes: another program serves \(path), or it cannot be made.")
        return nil
      }
      self.token = token
      self.server = server
    } catch {
      log.warning("No pushes: \(error.localizedDescription)")
      return nil
    }
  }

  func close() { server.close() }

  /// Deletes the stored token, so that the next receiver gets another one.
  func forgetToken() {
    // It may be gone already.
    try? FileManager.default.removeItem(at: tokenFile)
  }

  /// Topic of the app: its bundle identifier, or else the program's name.
  static var topic: String {
    Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
  }

  private static func makeFolder(_ folder: URL) throws {
    try FileManager.default.createDirectory(
      at: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
  }

  private static func token(keptIn file: URL) throws -> Data {
    // The first time there is none.
    if let kept = try? Data(contentsOf: file), kept.count == 32 { return kept }
    let token = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    try makeFolder(file.deletingLastPathComponent())
    try token.write(to: file, options: .atomic)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return token
  }
}
