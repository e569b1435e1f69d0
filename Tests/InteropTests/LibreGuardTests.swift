import Foundation
import ProgramRig
import Testing

/// A libre whose inner calls cannot be replaced: then nothing listens.
@Suite(.waiting)
struct LibreGuardTests {
  /// Debian's objects, linked as some distributions link libraries, or as Debian does.
  @Test(arguments: [true, false])
  func phoneListensOnlyWithALibreThatCanBeGuarded(isDirect: Bool) throws {
    let archives = ["x86_64", "aarch64"].map { "/usr/lib/\($0)-linux-gnu/libre.a" }
    let archive = archives.first { FileManager.default.fileExists(atPath: $0) }
    guard let archive, let compiler = Bench.find("clang") ?? Bench.find("gcc") else {
      return Bench.skip("libre-dev gcc")
    }
    let folder = try Bench.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let library = folder.appendingPathComponent("libre.so.0").path
    let flags = isDirect ? ["-Wl,-Bsymbolic-functions"] : []
    let linking = try ProgramRun(
      compiler,
      ["-shared", "-Wl,-soname,libre.so.0", "-Wl,--whole-archive", archive]
        + ["-Wl,--no-whole-archive", "-lssl", "-lcrypto", "-lz", "-lpthread", "-o", library] + flags
    )
    #expect(linking.waitForExit() == 0, "\(linking.output)")
    let port = Bench.port()
    let phone = try Bench.run(
      ["listen", "--answer", "--echo", "--json", "--listen", "127.0.0.1:\(port)"],
      environment: ["LD_LIBRARY_PATH": folder.path]
    )
    guard isDirect else {
      #expect(phone.wait(for: "registered"), "\(phone.output)")
      phone.signal(SIGINT)
      #expect(phone.waitForExit() != nil)
      return
    }
    #expect(phone.waitForExit() == 1)
    #expect(phone.printed("this libre cannot be guarded"), "\(phone.output)")
    #expect(!phone.printed("registered"))
  }
}
