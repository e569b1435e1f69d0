import CallSystemFixture
import ALSAAudio
import AVFAudio
@testable import CallKit
import Foundation
import Testing

extension ProcessWideTests {
  /// Apple's classes end to end over the null device: what an app sees, in order.
  @Suite struct CallSequenceTests {
    init() async { await CallSystemOwnership.settle() }

    @Test func outgoingCallActivatesAfterItsFulfilmentAndReleasesAtItsEnd() async throws {
      let stage = Stage()
      let call = UUID()
      try await stage.start(call)
      await stage.expect("begin", "start", "didActivate (devices open)")
      stage.provider.reportOutgoingCall(with: call, connectedAt: nil)
      try await stage.request(CXEndCallAction(call: call))
      await stage.expect("end (devices open)", "didDeactivate")
      #expect(stage.controller.callObserver.calls.isEmpty)
      stage.provider.invalidate()
    }

    @Test func incomingCallActivatesAfterTheAnswer() async throws {
      let stage = Stage(answering: .twice)
      let call = UUID()
      try await stage.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      #expect(stage.controller.callObserver.calls.map(\.uuid) == [call])
      try await stage.request(CXAnswerCallAction(call: call))
      await stage.expect("begin", "answer", "didActivate (devices open)")
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      await stage.expect("didDeactivate")
      stage.provider.invalidate()
    }

    @Test func failedStartActivatesNothing() async throws {
      let stage = Stage(answering: .never)
      try await stage.start(UUID())
      await stage.expect("begin", "start")
      stage.delegate.actions[0].fail()
      let second = UUID()
      try await stage.start(second)
      await stage.expect("start")
      stage.delegate.actions[1].fulfill()
      await stage.expect("didActivate (devices open)")
      stage.provider.reportCall(with: second, endedAt: nil, reason: .failed)
      await stage.expect("didDeactivate")
      stage.provider.invalidate()
    }

    @Test func unavailableDeviceEndsTheCall() async throws {
      let stage = Stage(device: .pcm("no-such-card"))
      try await stage.start(UUID())
      await stage.expect("begin", "start", "failedToActivate", "end")
      stage.provider.invalidate()
    }

    @Test func R70_R75_secondCallHoldsTheFirstWhichIsResumedAfterIt() async throws {
      let stage = Stage()
      let first = UUID()
      let second = UUID()
      try await stage.start(first)
      await stage.expect("begin", "start", "didActivate (devices open)")
      try await stage.start(second)
      await stage.expect("hold (devices open)")
      // The start follows at once, the session changes hands with the hold.
      var told: [String] = []
      var log = stage.delegate.log.makeAsyncIterator()
      while told.last?.hasPrefix("didActivate") != true { told.append(await log.next() ?? "") }
      #expect(told.map { $0.prefix(9) }.contains("didDeacti"))
      #expect(stage.controller.callObserver.calls.map(\.isOnHold) == [true, false])
      try await stage.request(CXEndCallAction(call: second))
      await stage.expect("end (devices open)", "didDeactivate", "resume")
      await stage.expect("didActivate (devices open)")
      #expect(stage.controller.callObserver.calls.map(\.isOnHold) == [false])
      stage.provider.invalidate()
    }

    @Test func R32_resetVoidsTheCallAndReleasesTheDevices() async throws {
      let stage = Stage()
      try await stage.start(UUID())
      await stage.expect("begin", "start", "didActivate (devices open)")
      CallSystem.shared.reset()
      var told: Set<String> = []
      var log = stage.delegate.log.makeAsyncIterator()
      for _ in 0..<2 { told.insert(await log.next() ?? "") }
      #expect(told.contains("didDeactivate"))
      #expect(told.contains { $0.hasPrefix("reset") })
      #expect(stage.controller.callObserver.calls.isEmpty)
      #expect(stage.provider.pendingTransactions.isEmpty)
      stage.provider.invalidate()
    }

    @Test func R21_R37_refusalsAreTypedErrors() async throws {
      let stage = Stage()
      await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallUUID)) {
        try await stage.request(CXEndCallAction(call: UUID()))
      }
      await #expect(throws: CXErrorCodeRequestTransactionError(.emptyTransaction)) {
        try await stage.request()
      }
      await #expect(throws: CXErrorCodeRequestTransactionError(.invalidAction)) {
        try await stage.request(CXAction())
      }
      let call = UUID()
      try await stage.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      do {
        try await stage.provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
        Issue.record("the second report was accepted")
      } catch CXErrorCodeIncomingCallError.callUUIDAlreadyExists {
        // As it should be.
      }
      stage.provider.invalidate()
      do {
        try await stage.request(CXEndCallAction(call: call))
        Issue.record("the request was accepted")
      } catch {
        #expect((error as NSError).domain == CXErrorDomainRequestTransaction)
        #expect((error as NSError).code == 2 && (error as NSError).userInfo.isEmpty)
      }
    }
  }
}
