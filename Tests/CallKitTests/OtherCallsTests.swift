import BusFixture
@testable import CallKit
import CallScreen
import CallState
import CallSystemFixture
import DesktopServices
import Foundation
import Testing

extension ProcessWideTests {
  /// Calls of the user's other programs, on a real bus.
  @Suite struct OtherCallsTests {
    init() async { await CallSystemOwnership.settle() }

    /// A call screen that is looked at.
    private final class Screen: CallPresenter {
      private let (shown, continuation) = AsyncStream<CallPresentation>.makeStream()

      func present(_ presentation: CallPresentation) { continuation.yield(presentation) }
      func present(ended record: CallRecord) {}

      func next(where isRight: (CallPresentation) -> Bool) async -> CallPresentation? {
        await shown.first { isRight($0) }
      }
    }

    @Test(.timeLimit(.minutes(10)))
    func callerIsFilteredWhileTheDesktopIsNotToDisturb() async throws {
      guard let daemon = try BusDaemon() else { return }
      defer { withExtendedLifetime(daemon) {} }
      let server = try #require(QuietServer(address: daemon.address, isQuiet: true))
      let quiet = DesktopQuiet(address: daemon.address)
      CallSystem.shared.use(quiet)
      defer { CallSystem.shared.use(DesktopQuiet()) }
      let stage = Stage()
      while !quiet.isOn { await Task.yield() }
      await #expect(throws: CXErrorCodeIncomingCallError(.filteredByDoNotDisturb)) {
        try await stage.provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate())
      }
      server.set(false, isTold: true)
      while quiet.isOn { await Task.yield() }
      try await stage.provider.reportNewIncomingCall(with: UUID(), update: CXCallUpdate())
      stage.provider.invalidate()
    }

    @Test(.timeLimit(.minutes(10)))
    func R100_observersSeeTheCallsOfOtherPrograms() async throws {
      guard let daemon = try BusDaemon() else { return }
      defer { withExtendedLifetime(daemon) {} }
      final class Watcher: NSObject, CXCallObserverDelegate {
        let seen = AsyncStream<CallSnapshot>.makeStream()
        func callObserver(_ observer: CXCallObserver, callChanged call: CXCall) {
          seen.continuation.yield(
            CallSnapshot(
              id: CallID(call.uuid),
              isOutgoing: call.isOutgoing,
              isOnHold: call.isOnHold,
              hasConnected: call.hasConnected,
              hasEnded: call.hasEnded
            )
          )
        }
      }
      CallSystem.shared.use(ProgramCalls(address: daemon.address))
      defer { CallSystem.shared.use(ProgramCalls()) }
      let observer = CXCallObserver()
      let watcher = Watcher()
      observer.setDelegate(watcher, queue: DispatchQueue(label: "watcher"))
      #expect(observer.calls.isEmpty)
      var seen = watcher.seen.stream.makeAsyncIterator()

      let other = ProgramCalls(address: daemon.address)
      let shown = AsyncStream<UUID>.makeStream()
      other.watch { call, _ in shown.continuation.yield(call.id) }
      #expect(other.calls.isEmpty)
      let id = UUID()
      func call(isOnHold: Bool) -> ProgramCall {
        ProgramCall(id: id, isOutgoing: true, isOnHold: isOnHold, hasConnected: true)
      }
      other.publish([call(isOnHold: false)])
      var change = try #require(await seen.next())
      #expect(change.id.uuid == id && change.isOutgoing && change.hasConnected && !change.isOnHold)
      #expect(observer.calls.map(\.uuid) == [id])
      // Such a call has the loudspeaker: ours only rings on the screen, and holds it if answered.
      let stage = Stage()
      let own = UUID()
      let screen = Screen()
      CallSystem.shared.add(presenter: screen)
      try await stage.provider.reportNewIncomingCall(with: own, update: CXCallUpdate())
      #expect(await screen.next { $0.incoming != nil }?.choices == [.holdAndAnswer, .decline])
      #expect(observer.calls.count == 2)
      await #expect(throws: CXErrorCodeRequestTransactionError(.unknownCallUUID)) {
        try await stage.request(CXSetHeldCallAction(call: id, onHold: true))
      }
      // The other program sees ours.
      for await id in shown.stream where id == own { break }
      #expect(other.calls.map(\.id) == [own])
      while change.id.uuid != own { change = try #require(await seen.next()) }

      other.publish([call(isOnHold: true)])
      change = try #require(await seen.next())
      #expect(change.id.uuid == id && change.isOnHold)
      #expect(await screen.next { $0.isRinging }?.choices == [.answer, .decline])
      other.publish([])
      change = try #require(await seen.next())
      #expect(change.id.uuid == id && change.hasEnded)
      #expect(observer.calls.map(\.uuid) == [own])
      CallSystem.shared.remove(presenter: screen)
      stage.provider.invalidate()
    }
  }
}
