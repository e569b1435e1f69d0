import BusFixture
@testable import CallKit
@testable import CallScreen
import CallState
import Testing

/// Decisions and callbacks that the user requests on the desktop.
struct Presses {
  private let decisions = AsyncStream<UserDecision>.makeStream()
  private let handles = AsyncStream<String>.makeStream()
  let decided: AsyncStream<UserDecision>
  let calledBack: AsyncStream<String>

  init() {
    decided = decisions.stream
    calledBack = handles.stream
  }

  func screen(on daemon: BusDaemon) throws -> any CallPresenter {
    let screen = Desktop.callScreen(
      address: daemon.address,
      decide: { [decisions] in decisions.continuation.yield($0) },
      callBack: { [handles] in
        if let handle = $0.remoteHandle { handles.continuation.yield(handle.value) }
      }
    )
    return try #require(screen)
  }
}
