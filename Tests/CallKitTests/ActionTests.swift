import AVFAudio
import CallState
@testable import CallKit
import Foundation
import Testing

/// Actions, transactions and values by themselves: what an app sees without any call.
struct ActionTests {
  @Test func R3_endThatTimedOutOnItsWayIsStillPerformed() {
    let end = CXEndCallAction(call: UUID())
    let mute = CXSetMutedCallAction(call: UUID(), muted: true)
    for action in [end, mute] {
      #expect(action.isToBePerformed)
      action.markTimedOut()
      action.markComplete()
    }
    // The far side still has to be told; all else is void.
    #expect(end.isToBePerformed && !mute.isToBePerformed)
    let voided = CXEndCallAction(call: UUID())
    voided.markComplete()
    #expect(!voided.isToBePerformed)
  }

  private static let call = UUID()

  private static var actions: [CXAction] {
    [
      CXAction(), CXCallAction(call: call),
      CXStartCallAction(call: call, handle: CXHandle(type: .phoneNumber, value: "123")),
      CXAnswerCallAction(call: call), CXEndCallAction(call: call),
      CXSetHeldCallAction(call: call, onHold: true), CXSetMutedCallAction(call: call, muted: true),
      CXSetGroupCallAction(call: call, callUUIDToGroupWith: call),
      CXPlayDTMFCallAction(call: call, digits: "1#", type: .hardPause),
      CXSetTranslatingCallAction(
        call: call,
        isTranslating: true,
        localLanguage: "en",
        remoteLanguage: "cs"
      ),
    ]
  }

  @Test func R1_newActionIsFreshAndHasItsTimeOut() {
    for action in Self.actions {
      let seconds: TimeInterval =
        switch action {
        case is CXStartCallAction: 600
        case is CXAnswerCallAction: 60
        default: 5
        }
      #expect(!action.isComplete)
      #expect(abs(action.timeoutDate.timeIntervalSinceNow - seconds) < 2, "\(action)")
    }
    #expect(Set(Self.actions.map(\.uuid)).count == Self.actions.count)
  }

  @Test func R5_answersToWhatNobodyPerformsDoNothing() {
    for action in Self.actions {
      action.fulfill()
      action.fail()
      #expect(!action.isComplete)
    }
  }

  @Test func R13_copiesAndArchivesKeepIdentityAndProperties() throws {
    for action in Self.actions {
      let copy = try #require(action.copy() as? CXAction)
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: action,
        requiringSecureCoding: true
      )
      let archived = try #require(
        try NSKeyedUnarchiver.unarchivedObject(ofClass: type(of: action), from: data)
      )
      for twin in [copy, archived] {
        #expect(twin !== action && twin.uuid == action.uuid && type(of: twin) == type(of: action))
        #expect(twin.request == action.request)
        #expect((twin as? CXCallAction)?.callUUID == (action as? CXCallAction)?.callUUID)
        #expect(abs(twin.timeoutDate.timeIntervalSince(action.timeoutDate)) < 0.001)
      }
    }
  }

  @Test func R15_R16_transactionKeepsOrderObjectsAndIdentity() throws {
    let empty = CXTransaction()
    #expect(empty.isComplete && empty.actions.isEmpty)
    let actions = Self.actions
    let transaction = CXTransaction(actions: [actions[3]])
    transaction.addAction(actions[4])
    #expect(transaction.actions[0] === actions[3] && transaction.actions[1] === actions[4])
    #expect(!transaction.isComplete)
    let copy = try #require(transaction.copy() as? CXTransaction)
    #expect(copy !== transaction && copy.uuid == transaction.uuid)
    #expect(
      copy.actions[0] !== actions[3] && copy.actions.map(\.uuid) == transaction.actions.map(\.uuid)
    )
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: transaction,
      requiringSecureCoding: true
    )
    let archived = try NSKeyedUnarchiver.unarchivedObject(ofClass: CXTransaction.self, from: data)
    #expect(archived?.uuid == transaction.uuid)
    #expect(archived?.actions.map(\.uuid) == transaction.actions.map(\.uuid))
  }

  @Test func R49_updateRecordsWhichSettersRan() throws {
    let update = CXCallUpdate()
    #expect(update.remoteHandle == nil && !update.supportsHolding && !update.hasVideo)
    update.supportsHolding = false
    update.localizedCallerName = nil
    let copy = try #require(update.copy() as? CXCallUpdate)
    #expect(copy.settings.supportsHolding == .set(false))
    #expect(copy.settings.callerName == .set(nil))
    #expect(copy.settings.supportsDTMF == .untouched)
    #expect(copy.settings.remoteHandle == .untouched)
  }

  @Test func handlesAreValues() throws {
    let handle = CXHandle(type: .emailAddress, value: "a@b.c")
    #expect(handle == CXHandle(type: .emailAddress, value: "a@b.c"))
    #expect(handle != CXHandle(type: .generic, value: "a@b.c"))
    let data = try NSKeyedArchiver.archivedData(
      withRootObject: handle,
      requiringSecureCoding: true
    )
    let archived = try NSKeyedUnarchiver.unarchivedObject(ofClass: CXHandle.self, from: data)
    #expect(archived == handle)
  }

  @Test func errorsHaveApplesDomainsAndNumbers() {
    let error: any Error = CXErrorCodeCallDirectoryManagerError(.duplicateEntries)
    #expect((error as NSError).domain == "com.apple.CallKit.error.calldirectorymanager")
    #expect((error as NSError).code == 4)
    #expect(CXErrorDomain == "com.apple.CallKit.error")
    #expect(CXErrorCodeIncomingCallError.filteredBySensitiveParticipants.rawValue == 7)
    #expect(CXErrorCodeRequestTransactionError.maximumCallGroupsReached.rawValue == 7)
    #expect(CXErrorCodeNotificationServiceExtensionError.invalidClientProcess.rawValue == 1)
  }

  @Test func R108_pushPayloadCompletesAtOnceWithoutAService() {
    nonisolated(unsafe) var code: Int?
    CXProvider.reportNewIncomingVoIPPushPayload([:]) { unsafe code = ($0 as NSError?)?.code }
    #expect(unsafe code == 2)
  }
}
