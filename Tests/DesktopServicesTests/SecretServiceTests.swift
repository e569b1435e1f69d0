import BusFixture
import DesktopServices
import Foundation
import Testing

/// A real keyring (Debian's gnome-keyring) on a bus of the test's own.
@Suite(.serialized)
struct SecretServiceTests {
  private final class Keyring {
    private let process = Process()
    private let home = FileManager.default.temporaryDirectory
      .appendingPathComponent("keyring-\(UUID().uuidString)")

    init?(on bus: BusDaemon) throws {
      let program = "/usr/bin/gnome-keyring-daemon"
      guard FileManager.default.isExecutableFile(atPath: program) else {
        print("skipped for lack of: gnome-keyring")
        return nil
      }
      try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = [
        "--foreground", "--unlock", "--components=secrets",
        "--control-directory=\(home.path)/control",
      ]
      process.environment = [
        "DBUS_SESSION_BUS_ADDRESS": bus.address, "HOME": home.path, "XDG_DATA_HOME": home.path,
        "XDG_RUNTIME_DIR": home.path,
      ]
      // The password of the keyring that it makes and unlocks.
      let input = Pipe()
      process.standardInput = input
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      try input.fileHandleForWriting.write(contentsOf: Data("open sesame".utf8))
      try input.fileHandleForWriting.close()
    }

    deinit {
      kill(process.processIdentifier, SIGKILL)
      // What is left is in the system's temporary folder.
      try? FileManager.default.removeItem(at: home)
    }
  }

  private func service(on bus: BusDaemon) throws -> SecretService {
    let connection = try #require(BusConnection(address: bus.address))
    // It takes its name when it is ready.
    let isThere = DispatchSemaphore(value: 0)
    connection.watchNames { name, _, owner in
      if name == "org.freedesktop.secrets", !owner.isEmpty { isThere.signal() }
    }
    if !connection.hasService("org.freedesktop.secrets") {
      try #require(isThere.wait(timeout: .now() + 10) == .success)
    }
    return try #require(SecretService(address: bus.address))
  }

  @Test func secretsAreKeptChangedAndForgotten() throws {
    guard let bus = try BusDaemon(), let keyring = try Keyring(on: bus) else { return }
    defer { withExtendedLifetime(keyring) {} }
    let service = try service(on: bus)
    let alice = ["xdg:schema": "org.sidetone.Account", "account": "sip:alice@example.org"]
    let bob = ["xdg:schema": "org.sidetone.Account", "account": "sip:bob@example.org"]
    #expect(service.secret(with: alice) == nil)
    #expect(service.set("pässword", label: "Sidetone", attributes: alice))
    #expect(service.set("other", label: "Sidetone", attributes: bob))
    #expect(service.secret(with: alice) == "pässword")
    #expect(service.set("new", label: "Sidetone", attributes: alice))
    #expect(service.secret(with: alice) == "new")
    service.remove(with: alice)
    #expect(service.secret(with: alice) == nil)
    #expect(service.secret(with: bob) == "other")
  }

  @Test func desktopWithoutAKeyringHasNone() throws {
    guard let bus = try BusDaemon() else { return }
    #expect(SecretService(address: bus.address) == nil)
  }
}
