import Glibc
import Testing

@testable import LocalSocket

/// A line in and a line out, between programs of one user.
struct LineServerTests {
  private let folder: String

  init() throws {
    var pattern = Array("/tmp/sidetone-socket-XXXXXX".utf8CString)
    folder = try #require(unsafe mkdtemp(&pattern).map { unsafe String(cString: $0) })
  }

  private var path: String { folder + "/socket" }

  @Test func aLineIsAnswered() throws {
    let server = try #require(LineServer(path: path) { "<\($0)>" })
    #expect(LineClient.ask("hello", at: path) == "<hello>")
    #expect(LineClient.ask("", at: path) == "<>")
    let long = String(repeating: "x", count: 16_000)
    #expect(LineClient.ask(long, at: path) == "<\(long)>")
    server.close()
  }

  @Test func whatIsTooLongOrUnansweredGetsNothing() throws {
    let server = try #require(LineServer(path: path) { $0 == "yes" ? "ok" : nil })
    #expect(LineClient.ask("no", at: path) == nil)
    #expect(LineClient.ask(String(repeating: "x", count: 17_000), at: path) == nil)
    #expect(LineClient.ask("yes", at: path) == "ok")
    server.close()
  }

  @Test func aClientThatSaysNothingIsNotWaitedForLong() throws {
    let server = try #require(LineServer(path: path) { $0 })
    let silent = try #require(LocalAddress(path)?.connected())
    defer { close(silent) }
    let answers = (0..<8).lazy.compactMap { _ in LineClient.ask("hello", at: path) }
    #expect(answers.first == "hello")
    server.close()
  }

  @Test func onlyOneServesAndOnlyTheUserMayConnect() throws {
    let server = try #require(LineServer(path: path) { $0 })
    #expect(LineServer(path: path) { $0 } == nil)
    var status = stat()
    #expect(unsafe stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
    server.close()
  }

  @Test func whatAKilledProgramLeftIsReplaced() throws {
    let left = try #require(LocalAddress(path)?.bound())
    close(left)
    let server = try #require(LineServer(path: path) { $0 })
    #expect(LineClient.ask("hello", at: path) == "hello")
    server.close()
  }

  @Test func withoutAFolderOrWithALongPathThereIsNone() {
    #expect(LineServer(path: folder + "/none/socket") { $0 } == nil)
    #expect(LineServer(path: folder + String(repeating: "/x", count: 60)) { $0 } == nil)
    #expect(LineClient.ask("hello", at: path) == nil)
  }
}
