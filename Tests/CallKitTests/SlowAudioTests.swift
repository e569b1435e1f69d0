import CallSystemFixture
import AVFAudio
@testable import CallKit
import DesktopServices
import Foundation
import Synchronization
import Testing

/// A session whose devices open when the test says so.
private final class SlowAudio: AudioActivation {
  private let waiting = Mutex<[@Sendable ((any Error)?) -> Void]>([])
  private let (begun, continuation) = AsyncStream<Void>.makeStream()

  func activateForCall(completion: @escaping @Sendable ((any Error)?) -> Void) {
    waiting.withLock { $0.append(completion) }
    continuation.yield()
  }

  func deactivateForCall(keepingDevices: Bool, completion: @escaping @Sendable () -> Void) {
    completion()
  }

  func setWithheldByCalls(_ isWithheld: Bool) {}

  func whenAsked(_ handle: @escaping @Sendable (CallArbiter.Request) -> Void) {}

  func giveBack() {}

  /// Returns once an activation has begun.
  func waitForActivation() async {
    for await _ in begun { return }
  }

  /// Opens the devices of every activation that has begun.
  func open() {
    let completions = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for completion in completions { completion(nil) }
  }
}

extension ProcessWideTests {
  /// Answers of the call system while devices are being opened, without a sound card.
  @Suite(.timeLimit(.minutes(10))) struct SlowAudioTests {
    private let audio = SlowAudio()

    init() async {
      await CallSystemOwnership.settle()
      CallSystem.shared.use(audio)
    }

    private func end(_ stages: Stage...) {
      audio.open()
      for stage in stages { stage.provider.invalidate() }
      CallSystem.shared.use(AVAudioSession.sharedInstance())
    }

    @Test func callsAreSeenAndReportedWhileDevicesOpen() async throws {
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await stage.expect("begin", "start")
      await audio.waitForActivation()
      // Had the queue waited for the devices, neither would come back.
      #expect(stage.controller.callObserver.calls.map(\.uuid) == [call])
      let other = Stage()
      let update = CXCallUpdate()
      update.remoteHandle = CXHandle(type: .generic, value: "carol")
      let second = UUID()
      try await other.provider.reportNewIncomingCall(with: second, update: update)
      #expect(stage.controller.callObserver.calls.count == 2)
      audio.open()
      await stage.expect("didActivate")
      other.provider.reportCall(with: second, endedAt: nil, reason: .unanswered)
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      end(stage, other)
    }

    @Test func anActivationIsNeitherLostNorDoubledByACallThatEnds() async throws {
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await audio.waitForActivation()
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      #expect(stage.controller.callObserver.calls.isEmpty)
      let next = UUID()
      try await stage.start(next)
      // The second call is audible before the devices of the first one are open.
      while stage.delegate.actions.count < 2 || !stage.delegate.actions[1].isComplete {
        await Task.yield()
      }
      audio.open()
      await stage.expect("begin", "start", "start", "didActivate")
      stage.provider.reportCall(with: next, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      end(stage)
    }
  }
}
