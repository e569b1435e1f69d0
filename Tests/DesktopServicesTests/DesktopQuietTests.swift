import BusFixture
import DesktopServices
import Synchronization
import Testing

/// The user's wish for quiet, as a notification server on a real bus tells it.
struct DesktopQuietTests {
  private func reached(_ isRight: () -> Bool) async {
    while !isRight() { await Task.yield() }
  }

  @Test(.timeLimit(.minutes(10)))
  func serverThatInhibitsNotificationsMakesTheDesktopQuiet() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let quiet = DesktopQuiet(address: daemon.address)
    quiet.start()
    var server = QuietServer(address: daemon.address, isQuiet: true)
    try #require(server != nil)
    await reached { quiet.isOn }
    // The news may say the value, or that there is another one.
    server?.set(false, isTold: true)
    await reached { !quiet.isOn }
    server?.set(true, isTold: false)
    await reached { quiet.isOn }
    // One that has gone inhibits nothing.
    server = nil
    await reached { !quiet.isOn }
  }

  @Test(.timeLimit(.minutes(10)))
  func serverThatIsThereAlreadyIsAsked() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(QuietServer(address: daemon.address, isQuiet: true))
    defer { withExtendedLifetime(server) {} }
    let quiet = DesktopQuiet(address: daemon.address)
    quiet.start()
    await reached { quiet.isOn }
  }

  @Test(.timeLimit(.minutes(10)))
  func busThatHasGoneInhibitsNothing() async throws {
    guard let daemon = try BusDaemon() else { return }
    let server = try #require(QuietServer(address: daemon.address, isQuiet: true))
    defer { withExtendedLifetime(server) {} }
    let quiet = DesktopQuiet(address: daemon.address)
    quiet.start()
    await reached { quiet.isOn }
    daemon.stop()
    await reached { !quiet.isOn }
  }

  @Test(.timeLimit(.minutes(10)))
  func serverThatKnowsNoQuietDisturbs() async throws {
    guard let daemon = try BusDaemon() else { return }
    defer { withExtendedLifetime(daemon) {} }
    let server = try #require(QuietServer(address: daemon.address, isQuiet: nil))
    let quiet = DesktopQuiet(address: daemon.address)
    quiet.start()
    var asked = server.asked.makeAsyncIterator()
    _ = await asked.next()
    #expect(!quiet.isOn)
    server.set(true, isTold: true)
    await reached { quiet.isOn }
  }
}
