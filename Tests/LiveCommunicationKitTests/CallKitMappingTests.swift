@testable import CallKit
import CallState
import Foundation
import Testing

@testable import LiveCommunicationKit

/// Mapping of LiveCommunicationKit's values to CallKit's and back.
struct CallKitMappingTests {
  private let bob = Handle(type: .phoneNumber, value: "+431234", displayName: "Bob")
  private let carol = Handle(type: .generic, value: "sip:carol@example.org", displayName: "Carol")

  @Test func aHandleWithoutANameShowsItsValue() {
    #expect(Handle(type: .generic, value: "x").displayName == "x")
    let handle = CXHandle(bob)
    #expect(handle.type == .phoneNumber && handle.value == "+431234")
    #expect(Handle(handle) == Handle(type: .phoneNumber, value: "+431234"))
  }

  @Test func anUpdateNamesEverybodyElse() {
    let me = Handle(type: .generic, value: "me")
    let update = CXCallUpdate(.init(localMember: me, members: [carol, bob, me]))
    #expect(update.localizedCallerName == "Bob, Carol")
    #expect(update.remoteHandle?.value == "+431234")
  }

  /// Some apps name the caller among the active members alone, or as the local member as well.
  @Test func callerIsFoundWhereverTheAppNamesIt() {
    #expect(CXCallUpdate(.init(activeRemoteMembers: [bob])).remoteHandle?.value == "+431234")
    let both = CXCallUpdate(.init(localMember: bob, members: [bob]))
    #expect(both.remoteHandle?.value == "+431234" && both.localizedCallerName == "Bob")
    #expect(CXCallUpdate(.init(localMember: bob)).remoteHandle == nil)
  }

  @Test func capabilitiesAreSetTogetherOrLeftAlone() {
    let set = CXCallUpdate(.init(capabilities: [.pausing, .playingTones]))
    #expect(set.supportsHolding && set.supportsDTMF)
    #expect(!set.supportsGrouping && !set.supportsUngrouping && !set.hasVideo)
    #expect(set.settings.supportsGrouping.value == false)
    #expect(CXCallUpdate(.init()).settings.supportsGrouping.value == nil)
  }

  @Test func actionsOfTheSystemGetTheirKind() throws {
    let call = UUID()
    func kind(_ action: CXCallAction) throws -> ConversationAction {
      let action = try #require(ConversationAction.matching(action))
      #expect(action.conversationUUID == call && action.state == .idle)
      return action
    }
    #expect(try kind(CXAnswerCallAction(call: call)) is JoinConversationAction)
    #expect(try kind(CXEndCallAction(call: call)) is EndConversationAction)
    let held = try kind(CXSetHeldCallAction(call: call, onHold: true))
    #expect((held as? PauseConversationAction)?.isPaused == true)
    let muted = try kind(CXSetMutedCallAction(call: call, muted: true))
    #expect((muted as? MuteConversationAction)?.isMuted == true)
    let other = UUID()
    let merged = try kind(CXSetGroupCallAction(call: call, callUUIDToGroupWith: other))
    #expect((merged as? MergeConversationAction)?.conversationUUIDToMergeWith == other)
    let alone = CXSetGroupCallAction(call: call, callUUIDToGroupWith: nil)
    #expect(try kind(alone) is UnmergeConversationAction)
    let tones = try kind(CXPlayDTMFCallAction(call: call, digits: "1#", type: .softPause))
    #expect((tones as? PlayToneAction)?.digits == "1#")
    #expect((tones as? PlayToneAction)?.tone == .softPause)
  }

  @Test(arguments: [
    (Conversation.EndedReason.failed, CXCallEndedReason.failed), (.remoteEnded, .remoteEnded),
    (.unanswered, .unanswered), (.joinedElsewhere, .answeredElsewhere),
    (.declinedElsewhere, .declinedElsewhere),
  ])
  func endsKeepTheirReason(reason: Conversation.EndedReason, callKit: CXCallEndedReason) {
    #expect(CXCallEndedReason(reason) == callKit)
  }

  @Test func aConfigurationSaysTheSameToCallKit() {
    let picture = Data([1, 2, 3])
    let callKit = CXProviderConfiguration(
      ConversationManager.Configuration(
        ringtoneName: "ring.wav",
        iconTemplateImageData: picture,
        maximumConversationGroups: 3,
        maximumConversationsPerConversationGroup: 4,
        includesConversationInRecents: false,
        supportsVideo: true,
        supportedHandleTypes: [.phoneNumber, .emailAddress]
      )
    )
    #expect(callKit.ringtoneSound == "ring.wav" && callKit.iconTemplateImageData == picture)
    #expect(callKit.maximumCallGroups == 3 && callKit.maximumCallsPerCallGroup == 4)
    #expect(!callKit.includesCallsInRecents && callKit.supportsVideo)
    #expect(callKit.supportedHandleTypes == [.phoneNumber, .emailAddress])
  }

  @Test func otherActionsAreNotConversations() {
    #expect(ConversationAction.matching(CXCallAction(call: UUID())) == nil)
  }
}
