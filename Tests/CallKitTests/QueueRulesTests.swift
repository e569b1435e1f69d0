import ALSAAudio
import AVFAudio
@testable import CallKit
import CallSystemFixture
import Foundation
import Testing

extension ProcessWideTests {
  /// The queues of callbacks and completions, and what comes from inside them.
  @Suite(.timeLimit(.minutes(10))) struct QueueRulesTests {
    init() async {
      await CallSystemOwnership.settle()
      AVAudioSession.sharedInstance().devices = .init(capture: .null, playback: .null)
    }

    private static let key = DispatchSpecificKey<String>()

    private static func queue(_ name: String) -> DispatchQueue {
      let queue = DispatchQueue(label: name)
      queue.setSpecific(key: key, value: name)
      return queue
    }

    private static var current: String? { DispatchQueue.getSpecific(key: key) }

    private static func start() -> CXStartCallAction {
      CXStartCallAction(call: UUID(), handle: CXHandle(type: .generic, value: "bob"))
    }

    /// A delegate of provider and observer that notes each callback and its queue.
    // SAFETY: the stream and the closures are Sendable and do not change.
    private final class Noter: NSObject, CXProviderDelegate, CXCallObserverDelegate,
      @unchecked Sendable
    {
      let (log, continuation) = AsyncStream<String>.makeStream()
      private let whenChanged: @Sendable (UUID) -> Void

      init(_ whenChanged: @escaping @Sendable (UUID) -> Void = { _ in }) {
        self.whenChanged = whenChanged
      }

      private func note(_ what: String) {
        continuation.yield("\(what) on \(QueueRulesTests.current ?? "another")")
      }

      func providerDidBegin(_ provider: CXProvider) { note("begin") }
      func providerDidReset(_ provider: CXProvider) { note("reset") }

      func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
        note("start")
        action.fulfill()
      }

      func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
        note("end")
        action.fulfill()
      }

      func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
        note("didActivate")
      }

      func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
        note("didDeactivate")
      }

      func callObserver(_ callObserver: CXCallObserver, callChanged call: CXCall) {
        whenChanged(call.uuid)
      }

      func expect(_ lines: String..., location: SourceLocation = #_sourceLocation) async {
        var iterator = log.makeAsyncIterator()
        for line in lines {
          let found = await iterator.next()
          #expect(found == line, sourceLocation: location)
        }
      }
    }

    @Test func R2_timeoutDateIsSetAnewAtTheAcceptance() async throws {
      let delegate = Noter()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: Self.queue("given"))
      let action = Self.start()
      let first = action.timeoutDate
      while Date() <= first.addingTimeInterval(-600) {}
      try await CXCallController().request(CXTransaction(action: action))
      #expect(action.timeoutDate > first)
      provider.invalidate()
    }

    @Test func R18_R36_completionsHaveAPrivateQueueByDefault() async throws {
      let delegate = Noter()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: nil)
      DispatchQueue.main.setSpecific(key: Self.key, value: "main")
      let queues = AsyncStream<String?>.makeStream()
      let controller = CXCallController()
      let transaction = CXTransaction(action: Self.start())
      controller.request(transaction) { _ in queues.continuation.yield(Self.current) }
      provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate()) { _ in
        queues.continuation.yield(Self.current)
      }
      var iterator = queues.stream.makeAsyncIterator()
      for _ in 0..<2 {
        let found = await iterator.next()
        #expect(found == .some(.none))
      }
      provider.invalidate()
    }

    @Test func R24_completionsAndObserversMayRequestAndRead() async throws {
      let ended = AsyncStream<(Int, Int)>.makeStream()
      let controller = CXCallController()
      let crossing = UncheckedTransfer(value: controller)
      let watcher = Noter { call in
        let calls = crossing.value.callObserver.calls.count
        let end = CXTransaction(action: CXEndCallAction(call: call))
        crossing.value.request(end) { _ in
          // And one more from inside the completion, about a call that is gone by then or ends.
          let again = CXTransaction(action: CXEndCallAction(call: call))
          crossing.value.request(again) { _ in
            ended.continuation.yield((calls, crossing.value.callObserver.calls.count))
          }
        }
      }
      controller.callObserver.setDelegate(watcher, queue: Self.queue("observer"))
      let delegate = Noter()
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: Self.queue("given"))
      try await controller.request(CXTransaction(action: Self.start()))
      var iterator = ended.stream.makeAsyncIterator()
      let (before, after) = try #require(await iterator.next())
      #expect(before == 1 && after <= 1)
      provider.invalidate()
    }

    @Test func R26_R27_everyCallbackRunsOnTheGivenQueueAndTheBeginningComesOnce() async throws {
      let (first, second) = (Noter(), Noter())
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(first, queue: Self.queue("one"))
      let action = Self.start()
      let controller = CXCallController()
      try await controller.request(CXTransaction(action: action))
      await first.expect("begin on one", "start on one", "didActivate on one")
      provider.setDelegate(second, queue: Self.queue("two"))
      try await controller.request(CXTransaction(action: CXEndCallAction(call: action.callUUID)))
      await second.expect("end on two", "didDeactivate on two")
      provider.invalidate()
    }

    @Test func R30_delegateReceivesNothingAfterInvalidate() async throws {
      let delegate = Noter()
      let queue = Self.queue("given")
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: queue)
      try await CXCallController().request(CXTransaction(action: Self.start()))
      await delegate.expect("begin on given", "start on given", "didActivate on given")
      provider.invalidate()
      #expect(CXCallObserver().calls.isEmpty)
      // The devices are released, and whatever was on its way to the queue has come.
      await CallSystemOwnership.settle()
      queue.sync { _ = delegate.continuation.yield("nothing more") }
      await delegate.expect("nothing more")
    }

    /// The call is over before its report has been answered.
    @Test func R44_endBeforeTheCompletionLeavesNothing() async throws {
      let delegate = Noter()
      let queue = Self.queue("given")
      let provider = CXProvider(configuration: CXProviderConfiguration())
      provider.setDelegate(delegate, queue: queue)
      let (call, answers) = (UUID(), AsyncStream<Bool>.makeStream())
      // The completion waits for this queue.
      queue.suspend()
      provider.reportNewIncomingCall(with: call, update: CXCallUpdate()) { error in
        answers.continuation.yield(error == nil)
      }
      provider.reportCall(with: call, endedAt: nil, reason: .remoteEnded)
      #expect(CXCallObserver().calls.isEmpty)
      queue.resume()
      var iterator = answers.stream.makeAsyncIterator()
      #expect(await iterator.next() == true)
      await delegate.expect("begin on given")
      // The same name is free, as after any call.
      try await provider.reportNewIncomingCall(with: call, update: CXCallUpdate())
      provider.invalidate()
    }
  }
}
