import CallKit
import Foundation
import Testing

@testable import LiveCommunicationKit

struct ConversationActionTests {
  private let call = UUID()

  @Test func anActionIsAnsweredOnce() {
    let action = JoinConversationAction(conversationUUID: call)
    #expect(action.state == .idle && action.isPending && action.timeoutDate > Date())
    action.fail()
    action.fulfill(dateConnected: Date())
    #expect(action.state == .failed(reason: "the app could not perform it"))
    #expect(!action.isPending)
    let bare = ConversationAction(conversationUUID: call)
    bare.fulfill()
    bare.fail()
    #expect(bare.state == .complete && bare.conversationUUID == call)
  }

  @Test func deadlinesAreCallKits() {
    let actions: [ConversationAction] = [
      JoinConversationAction(conversationUUID: call),
      EndConversationAction(conversationUUID: call),
      MuteConversationAction(conversationUUID: call, isMuted: true),
    ]
    for action in actions { #expect(action.timeoutDate == action.callAction.timeoutDate) }
    let date = Date(timeIntervalSince1970: 4_711)
    #expect(ConversationAction(conversationUUID: call, timeoutDate: date).timeoutDate == date)
  }

  @Test func anActionRunsOnceTheDelegateHasIt() {
    let action = EndConversationAction(conversationUUID: call)
    action.begin()
    #expect(action.state == .running && action.isPending)
    action.fulfill(dateEnded: Date())
    action.begin()
    #expect(action.state == .complete)
    #expect(!action.end(as: .failed(reason: "late")))
  }

  @Test func eachActionHasItsOwnIdentity() {
    let one = MuteConversationAction(conversationUUID: call, isMuted: true)
    let other = MuteConversationAction(conversationUUID: call, isMuted: true)
    #expect(one.uuid != other.uuid && one.uuid == one.callAction.uuid)
  }

  @Test func aStartSaysWhomItCallsAndHow() {
    let bob = Handle(type: .phoneNumber, value: "+431234", displayName: "Bob")
    let carol = Handle(type: .generic, value: "carol")
    let start = StartConversationAction(
      conversationUUID: call,
      handles: [bob, carol],
      isVideo: true
    )
    let callAction = start.callAction as? CXStartCallAction
    // Several handles make one call, to the first.
    #expect(callAction?.handle.value == "+431234" && callAction?.handle.type == .phoneNumber)
    #expect(callAction?.isVideo == true && start.handles == [bob, carol])
    let nobody = StartConversationAction(conversationUUID: call, handles: [], isVideo: false)
    #expect((nobody.callAction as? CXStartCallAction)?.handle.value == "")
    start.fulfill(dateStarted: Date())
    #expect(start.state == .complete)
  }

  @Test(arguments: [
    (PlayToneAction.Tone.single, CXPlayDTMFCallAction.ActionType.singleTone),
    (.softPause, .softPause), (.hardPause, .hardPause),
  ])
  func tonesKeepTheirKind(tone: PlayToneAction.Tone, type: CXPlayDTMFCallAction.ActionType) {
    let action = PlayToneAction(conversationUUID: call, digits: "12", tone: tone)
    #expect((action.callAction as? CXPlayDTMFCallAction)?.type == type)
    let back = PlayToneAction(CXPlayDTMFCallAction(call: call, digits: "12", type: type))
    #expect(back.tone == tone && back.digits == "12")
  }

  @Test func whatTakesACallOutOfItsGroupIsNoMerge() {
    let alone = CXSetGroupCallAction(call: call, callUUIDToGroupWith: nil)
    #expect(MergeConversationAction(alone) == nil)
    let other = UUID()
    let merge = MergeConversationAction(
      conversationUUID: call,
      conversationUUIDToMergeWith: other
    )
    #expect((merge.callAction as? CXSetGroupCallAction)?.callUUIDToGroupWith == other)
    let unmerge = UnmergeConversationAction(conversationUUID: call)
    #expect((unmerge.callAction as? CXSetGroupCallAction)?.callUUIDToGroupWith == nil)
  }

  @Test func translationIsARequestThatNothingPerforms() throws {
    let action = SetTranslatingAction(
      conversationID: UUID(),
      isTranslating: true,
      localLanguage: Locale.Language(identifier: "de"),
      remoteLanguage: Locale.Language(identifier: "en-GB")
    )
    let equivalent = try #require(action.callAction as? CXSetTranslatingCallAction)
    #expect(action.isTranslating && equivalent.isTranslating)
    #expect(action.conversationUUID == equivalent.callUUID)
    #expect(equivalent.remoteLanguage.hasPrefix("en") && equivalent.localLanguage.hasPrefix("de"))
    action.fulfill(using: .custom)
    #expect(action.state == .complete)
  }
}
