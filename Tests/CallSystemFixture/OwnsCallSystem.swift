import CallKit
package import Testing

/// Lets suites that use the process's one call system and audio session run one after the other,
/// whatever module they are in.
package struct CallSystemOwnership: SuiteTrait, TestScoping {
  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    await Turn.shared.begin()
    // Tests' calls are none of the user's.
    CallScreens.useOwn()
    do {
      try await function()
    } catch {
      await Turn.shared.end()
      throw error
    }
    await Turn.shared.end()
  }

  /// Waits until the session that an earlier test's last call had is released.
  package static func settle() async {
    while CallSystem.shared.hasAudio { await Task.yield() }
  }
}

extension Trait where Self == CallSystemOwnership {
  /// Trait of suites that use the process's call system.
  package static var ownsCallSystem: Self { CallSystemOwnership() }
}

/// Queue of the suites, of which one at a time uses the call system.
private actor Turn {
  static let shared = Turn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func begin() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  func end() {
    guard !waiting.isEmpty else {
      isTaken = false
      return
    }
    waiting.removeFirst().resume()
  }
}
