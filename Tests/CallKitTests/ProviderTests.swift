import CallSystemFixture
import ALSAAudio
import AVFAudio
@testable import CallKit
import Foundation
import Synchronization
import Testing

extension ProcessWideTests {
  /// Guarantees of provider, controller and observer about objects, queues and order.
  @Suite struct ProviderTests {
    init() async { await CallSystemOwnership.settle() }

    /// Notes lines from any queue.
    private final class Notes: Sendable {
      let lines: AsyncStream<String>
      private let continuation: AsyncStream<String>.Continuation

      init() { (lines, continuation) = AsyncStream.makeStream() }

      func add(_ line: String) { continuation.yield(line) }

      func next(_ count: Int) async -> [String] {
        var iterator = lines.makeAsyncIterator()
        var found: [String] = []
        for _ in 0..<count { found.append(await iterator.next() ?? "") }
        return found
      }
    }

    private final class Watcher: NSObject, CXCallObserverDelegate {
      let notes = Notes()

      func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        let isListed = callObserver.calls.contains { $0.isEqual(to: call) }
        let what =
          call.hasEnded ? "ended" : call.isOnHold ? "held" : call.hasConnected ? "connected" : "new"
        notes.add("\(what), \(isListed ? "listed" : "gone")")
      }
    }

    @Test func R4_R11_deliveredActionIsTheRequestedObjectAndBecomesComplete() async throws {
      let stage = Stage(answering: .never)
      let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "bob"))
      let transaction = CXTransaction(action: action)
      try await stage.controller.request(transaction)
      await stage.expect("begin", "start")
      #expect(stage.delegate.actions.first === action)
      #expect(stage.provider.pendingTransactions.first === transaction)
      #expect(
        stage.provider.pendingCallActions(of: CXStartCallAction.self, withCall: action.callUUID)
          .first === action
      )
      #expect(
        stage.provider.pendingCallActions(of: CXEndCallAction.self, withCall: action.callUUID)
          .isEmpty
      )
      #expect(!action.isComplete && !transaction.isComplete)
      action.fulfill()
      #expect(action.isComplete && transaction.isComplete)
      await stage.expect("didActivate (devices open)")
      #expect(stage.provider.pendingTransactions.isEmpty)
      stage.provider.invalidate()
    }

    @Test func R6_R30_answerAfterInvalidateIsHarmless() async throws {
      let stage = Stage(answering: .never)
      try await stage.start(UUID())
      await stage.expect("begin", "start")
      stage.provider.invalidate()
      _ = stage.controller.callObserver.calls
      let action = try #require(stage.delegate.actions.first)
      #expect(action.isComplete)
      action.fulfill()
      #expect(stage.controller.callObserver.calls.isEmpty)
      #expect(AVAudioSession.sharedInstance().voiceEngine == nil)
    }

    @Test func R19_callIsVisibleThenCompletionRunsThenTheDelegatePerforms() async throws {
      let notes = Notes()
      final class Late: NSObject, CXProviderDelegate {
        let notes: Notes
        init(_ notes: Notes) { self.notes = notes }
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
          notes.add("execute \(transaction.actions.count)")
          return false
        }
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
          notes.add("perform")
          action.fail()
        }
      }
      let delegate = Late(notes)
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
      let controller = CXCallController()
      let call = UUID()
      let action = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "bob"))
      let observer = controller.callObserver
      let seen = UncheckedTransfer(value: observer)
      controller.request(CXTransaction(action: action)) { error in
        notes.add("completion \(error == nil), \(seen.value.calls.count) calls")
        notes.add("on the main queue: \(Thread.isMainThread)")
      }
      #expect(
        await notes.next(4) == [
          "completion true, 1 calls", "on the main queue: false", "execute 1", "perform",
        ]
      )
      provider.invalidate()
    }

    @Test func R22_delegateThatExecutesIsNotAskedToPerform() async throws {
      final class Taker: NSObject, CXProviderDelegate {
        let notes = Notes()
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, execute transaction: CXTransaction) -> Bool {
          notes.add("execute")
          for action in transaction.actions { action.fail() }
          return true
        }
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
          notes.add("perform")
        }
      }
      let delegate = Taker()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
      let controller = CXCallController()
      for _ in 0..<2 {
        let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "b"))
        try await controller.requestTransaction(with: action)
      }
      #expect(await delegate.notes.next(2) == ["execute", "execute"])
      provider.invalidate()
    }

    @Test func R12_actionThatIsNotImplementedFails() async throws {
      final class Empty: NSObject, CXProviderDelegate {
        func providerDidReset(_ provider: CXProvider) {}
      }
      let delegate = Empty()
      let watcher = Watcher()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
      let controller = CXCallController()
      controller.callObserver.setDelegate(watcher, queue: DispatchQueue(label: "observer"))
      let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "b"))
      try await controller.requestTransaction(with: [action])
      // Whether the first finds it listed still is a matter of two queues.
      let events = await watcher.notes.next(2)
      #expect(events[0].hasPrefix("new") && events[1] == "ended, gone")
      #expect(action.isComplete)
      provider.invalidate()
    }

    @Test func R24_requestsFromInsidePerformAndCompletionsWork() async throws {
      final class Caller: NSObject, CXProviderDelegate {
        let notes = Notes()
        let controller = CXCallController()
        func providerDidReset(_ provider: CXProvider) {}
        func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
          notes.add("start, \(controller.callObserver.calls.count) calls")
          action.fulfill()
          let caller = UncheckedTransfer(value: self)
          controller.request(CXTransaction(action: CXEndCallAction(call: action.callUUID))) { _ in
            let calls = caller.value.controller.callObserver.calls
            caller.value.notes.add("end accepted, \(calls.count) calls")
          }
        }
        func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
          notes.add("end")
          action.fulfill()
        }
      }
      AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
      let delegate = Caller()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
      let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "b"))
      try await delegate.controller.request(CXTransaction(action: action))
      #expect(
        await delegate.notes.next(3) == ["start, 1 calls", "end accepted, 1 calls", "end"]
      )
      provider.invalidate()
    }

    @Test func R27_R28_delegateThatComesLateIsToldEverything() async throws {
      let provider = CXProvider(configuration: CXProviderConfiguration())
      let call = UUID()
      try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      try await CXCallController().request(CXTransaction(action: CXEndCallAction(call: call)))
      let delegate = ScriptedDelegate()
      provider.setDelegate(delegate, queue: DispatchQueue(label: "late"))
      var log = delegate.log.makeAsyncIterator()
      #expect(await log.next() == "begin")
      #expect(await log.next() == "end")
      provider.setDelegate(delegate, queue: DispatchQueue(label: "later"))
      provider.invalidate()
    }

    @Test func R29_configurationIsCopiedAndChangesThroughTheGetterCount() async throws {
      let given = CXProviderConfiguration(localizedName: "one")
      given.maximumCallGroups = 0
      let stage = Stage()
      stage.provider.configuration = given
      #expect(stage.provider.configuration !== given)
      #expect(stage.provider.configuration === stage.provider.configuration)
      given.maximumCallGroups = 5
      #expect(stage.provider.configuration.maximumCallGroups == 0)
      await #expect(throws: CXErrorCodeRequestTransactionError(.maximumCallGroupsReached)) {
        try await stage.start(UUID())
      }
      stage.provider.configuration.maximumCallGroups = 1
      try await stage.start(UUID())
      stage.provider.invalidate()
    }

    @Test func R14_R18_R31_answersComeFromAnyThreadAndProvidersOutliveTheirOwners() async throws {
      let delegate = ScriptedDelegate(answering: .never)
      AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
      weak var former: CXProvider?
      do {
        let provider = CXProvider(configuration: CXProviderConfiguration())
        provider.setDelegate(delegate, queue: DispatchQueue(label: "delegate"))
        former = provider
      }
      let queue = DispatchQueue(label: "controller")
      let key = DispatchSpecificKey<Bool>()
      queue.setSpecific(key: key, value: true)
      let controller = CXCallController(queue: queue)
      let action = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "b"))
      let isOnQueue = await withCheckedContinuation { continuation in
        controller.request(CXTransaction(action: action)) { _ in
          continuation.resume(returning: DispatchQueue.getSpecific(key: key))
        }
      }
      #expect(isOnQueue == true)
      var log = delegate.log.makeAsyncIterator()
      #expect(await log.next() == "begin")
      #expect(await log.next() == "start")
      let crossing = UncheckedTransfer(value: action)
      DispatchQueue.global().async { crossing.value.fulfill() }
      #expect(await log.next() == "didActivate (devices open)")
      let provider = try #require(former)
      provider.invalidate()
    }

    @Test func R3_sameActionCanBeAskedForAgain() async throws {
      let stage = Stage(answering: .never)
      let call = UUID()
      try await stage.start(call)
      await stage.expect("begin", "start")
      stage.delegate.actions[0].fulfill()
      await stage.expect("didActivate (devices open)")
      let hold = CXSetHeldCallAction(call: call, onHold: true)
      for _ in 0..<2 {
        try await stage.request(hold)
        await stage.expect("hold (devices open)")
        #expect(!hold.isComplete)
        hold.fail()
        #expect(hold.isComplete)
      }
      stage.provider.invalidate()
    }

    @Test func R17_whatIsAddedAfterTheRequestDoesNotCount() async throws {
      let stage = Stage(answering: .never)
      let call = UUID()
      let action = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "b"))
      let transaction = CXTransaction(action: action)
      stage.controller.request(transaction) { _ in }
      let late = CXEndCallAction(call: call)
      transaction.addAction(late)
      await stage.expect("begin", "start")
      action.fulfill()
      await stage.expect("didActivate (devices open)")
      #expect(stage.delegate.actions.count == 1 && !late.isComplete)
      stage.provider.invalidate()
    }

    @Test func R36_completionOfAReportRunsOnTheDelegatesQueue() async throws {
      let stage = Stage()
      let queue = DispatchQueue(label: "given")
      let key = DispatchSpecificKey<Bool>()
      queue.setSpecific(key: key, value: true)
      stage.provider.setDelegate(stage.delegate, queue: queue)
      let isOnQueue = await withCheckedContinuation { continuation in
        stage.provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate()) { _ in
          continuation.resume(returning: DispatchQueue.getSpecific(key: key))
        }
      }
      #expect(isOnQueue == true)
      stage.provider.invalidate()
    }

    @Test func R36_completionKeepsItsQueueAfterInvalidate() async throws {
      let stage = Stage()
      let queue = DispatchQueue(label: "given")
      let key = DispatchSpecificKey<Bool>()
      queue.setSpecific(key: key, value: true)
      stage.provider.setDelegate(stage.delegate, queue: queue)
      stage.provider.invalidate()
      let (isOnQueue, error) = await withCheckedContinuation { continuation in
        stage.provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate()) { error in
          let isOnQueue = DispatchQueue.getSpecific(key: key)
          continuation.resume(returning: (isOnQueue, error as? CXErrorCodeIncomingCallError))
        }
      }
      #expect(isOnQueue == true)
      #expect(error?.code == .unknown)
    }

    @Test func R19_completionThatWaitsHoldsUpNoOtherCall() async throws {
      let stage = Stage()
      let busy = DispatchQueue(label: "busy")
      busy.suspend()
      let first = CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "bob"))
      let second = UUID()
      CXCallController(queue: busy).request(CXTransaction(action: first)) { _ in }
      try await stage.provider.reportNewIncomingCall(with: second, update: CXCallUpdate())
      try await stage.controller.request(CXTransaction(action: CXEndCallAction(call: second)))
      await stage.expect("begin", "end")
      busy.resume()
      await stage.expect("start")
      stage.provider.invalidate()
    }

    @Test func R44_reportAndEndAtOnceLeaveNothing() async throws {
      let stage = Stage()
      let call = UUID()
      let watcher = Watcher()
      stage.controller.callObserver.setDelegate(watcher, queue: DispatchQueue(label: "observer"))
      let report = Task { [provider = UncheckedTransfer(value: stage.provider)] in
        try await provider.value.reportNewIncomingCall(with: call, update: CXCallUpdate())
      }
      try await report.value
      stage.provider.reportCall(with: call, endedAt: nil, reason: .failed)
      #expect(await watcher.notes.next(2).last == "ended, gone")
      #expect(stage.controller.callObserver.calls.isEmpty)
      stage.provider.invalidate()
    }

    @Test func R101_R102_observerIsToldOfEachFlagAndNotOfMute() async throws {
      let stage = Stage()
      let watcher = Watcher()
      #expect(stage.controller.callObserver === stage.controller.callObserver)
      #expect(stage.controller.callObserver !== CXCallController().callObserver)
      stage.controller.callObserver.setDelegate(watcher, queue: DispatchQueue(label: "observer"))
      let call = UUID()
      try await stage.start(call)
      stage.provider.reportOutgoingCall(with: call, connectedAt: nil)
      await stage.expect("begin", "start", "didActivate (devices open)")
      try await stage.request(CXSetMutedCallAction(call: call, muted: true))
      try await stage.request(CXSetHeldCallAction(call: call, onHold: true))
      await stage.expect("hold (devices open)", "didDeactivate")
      stage.provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      let events = await watcher.notes.next(4)
      #expect(events.first?.hasPrefix("new") == true && events.last == "ended, gone")
      #expect(events[1].hasPrefix("connected") && events[2].hasPrefix("held"))
      stage.provider.invalidate()
    }
  }
}
