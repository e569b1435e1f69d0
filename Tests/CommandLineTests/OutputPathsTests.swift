import Foundation
import Testing

@testable import CommandLine

struct OutputPathsTests {
  private let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("outputs-\(UUID().uuidString)")

  private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

  private func withFiles(_ body: () throws -> Void) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // Nobody looks there again.
    try Data("x".utf8).write(to: folder.appendingPathComponent("in"))
    try FileManager.default.createSymbolicLink(
      atPath: path("link"),
      withDestinationPath: path("in")
    )
    try body()
  }

  @Test func outputIsNoInput() throws {
    try withFiles {
      for name in ["in", "link", "../\(folder.lastPathComponent)/in"] {
        #expect(throws: CommandFailure.self) {
          try OutputPaths.check([("--plot", path(name))], against: [("the capture", path("in"))])
        }
      }
      try OutputPaths.check([("--plot", path("out"))], against: [("the capture", path("in"))])
      try OutputPaths.check([("--plot", nil)], against: [("the capture", nil)])
    }
  }

  @Test(arguments: ["none/out", "in/out", "."]) func outputCanBeWritten(name: String) throws {
    try withFiles {
      #expect(throws: CommandFailure.self) {
        try OutputPaths.check([("--wav", path(name))], against: [])
      }
    }
  }

  @Test func twoOutputsAreTwoFiles() throws {
    try withFiles {
      #expect(throws: CommandFailure.self) {
        try OutputPaths.check([("--plot", path("new")), ("--wav", path("./new"))], against: [])
      }
      try OutputPaths.check([("--plot", "/dev/null"), ("--wav", "/dev/null")], against: [])
    }
  }
}
