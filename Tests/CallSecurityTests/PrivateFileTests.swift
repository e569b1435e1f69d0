import CallSecurity
import Foundation
import Glibc
import Testing

struct PrivateFileTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("private-\(UUID().uuidString)")

  private func withFolder(_ body: () throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // Nobody looks there again.
    try body()
  }

  @Test func contentsAreReplacedAndNothingElseIsTouched() throws {
    try withFolder {
      let other = folder.appendingPathComponent("page.new")
      try Data("mine".utf8).write(to: other)
      let file = PrivateFile("page", in: folder)
      try file.write(Array("one".utf8))
      try file.write(Array("two".utf8))
      #expect(try file.read() == Array("two".utf8))
      #expect(try Data(contentsOf: other) == Data("mine".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }
  }

  /// A pipe or a device takes the contents, and stays what it is.
  @Test func pipeIsWrittenToAndNotReplaced() throws {
    try withFolder {
      let file = PrivateFile("pipe", in: folder)
      #expect(unsafe mkfifo(file.path, 0o600) == 0)
      // A pipe without a reader is an error, and not waited for.
      #expect(throws: IdentityError.self) { try file.write([1], keepsDevices: true) }
      let reader = unsafe open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      defer { close(reader) }
      try file.write(Array("page".utf8), keepsDevices: true)
      var bytes = [UInt8](repeating: 0, count: 8)
      #expect(unsafe read(reader, &bytes, 8) == 4)
      var status = stat()
      #expect(unsafe stat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
      // The system's own device for a full disk.
      let full = PrivateFile("full", in: URL(fileURLWithPath: "/dev"))
      let error = #expect(throws: IdentityError.self) { try full.write([1], keepsDevices: true) }
      #expect("\(error ?? .readable(path: ""))".contains("No space left"))
    }
  }
}
