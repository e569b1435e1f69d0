import Foundation
import Observation
import Testing

@testable import LiveCommunicationKit

struct ConversationTests {
  private let me = Handle(type: .generic, value: "sip:me@example.org")
  private let bob = Handle(type: .phoneNumber, value: "+431234", displayName: "Bob")

  @Test func aConversationBeginsAsItsDirectionSays() {
    #expect(Conversation(uuid: UUID(), isOutgoing: false).state == .idle)
    #expect(Conversation(uuid: UUID(), isOutgoing: true).state == .joining)
  }

  @Test func aConversationThatIsOverStaysSo() {
    let conversation = Conversation(uuid: UUID(), isOutgoing: false)
    #expect(conversation.move(to: .joining) && !conversation.move(to: .joining))
    #expect(conversation.move(to: .paused) && conversation.state == .paused)
    #expect(conversation.move(to: .left) && !conversation.move(to: .joined))
    #expect(conversation.state == .left)
    #expect(conversation.debugDescription.hasSuffix("left"))
  }

  @Test func theLocalMemberIsTheLastThatWasNamed() {
    let conversation = Conversation(uuid: UUID(), isOutgoing: true)
    #expect(conversation.localMember == nil)
    conversation.update(localMember: me)
    conversation.update(localMember: bob)
    #expect(conversation.localMember == bob)
  }

  @Test(.timeLimit(.minutes(10))) func changesAreObserved() async {
    let conversation = Conversation(uuid: UUID(), isOutgoing: false)
    func change(of body: () -> Void, by change: () -> Void) async {
      let (changes, continuation) = AsyncStream<Void>.makeStream()
      withObservationTracking(body) { continuation.finish() }
      change()
      for await _ in changes {}
    }
    await change(of: { _ = conversation.state }, by: { _ = conversation.move(to: .joining) })
    await change(of: { _ = conversation.localMember }, by: { conversation.update(localMember: me) })
    #expect(conversation.state == .joining && conversation.localMember == me)
  }

  /// Apps hand events on between processes.
  @Test func eventsComeBackFromJSON() throws {
    let update = Conversation.Update(
      localMember: me,
      members: [me, bob],
      activeRemoteMembers: [bob],
      capabilities: [.pausing, .merging]
    )
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    let events: [Conversation.Event] = [
      .conversationStartedConnecting(date), .conversationConnected(date),
      .conversationEnded(date, .joinedElsewhere), .conversationUpdated(update),
    ]
    let data = try JSONEncoder().encode(events)
    #expect(try JSONDecoder().decode([Conversation.Event].self, from: data) == events)
  }

  @Test func capabilitiesAreSeparate() {
    let all: [Conversation.Capabilities] = [
      .pausing, .merging, .unmerging, .video, .playingTones,
    ]
    #expect(Set(all.map(\.rawValue)).count == all.count)
    for one in all {
      #expect(all.count { $0.contains(one) } == 1)
      #expect(Conversation.Capabilities(all).contains(one))
    }
  }
}
