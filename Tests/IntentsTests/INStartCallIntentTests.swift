import Foundation
import FoundationAdditions
import Testing

@testable import Intents

/// Intents to start a call, as the desktop hands them to an app.
struct INStartCallIntentTests {
  private static func person(_ handle: String, name: String? = nil) -> INPerson {
    INPerson(
      personHandle: INPersonHandle(value: handle, type: .unknown),
      nameComponents: nil,
      displayName: name,
      image: nil,
      contactIdentifier: nil,
      customIdentifier: nil
    )
  }

  @Test func R105_recentCallsComeAsActivitiesWithAnIntent() {
    let intent = INStartCallIntent(
      contacts: [Self.person("sip:bob@host")],
      callCapability: .audioCall
    )
    let activity = NSUserActivity(interaction: INInteraction(intent: intent, response: nil))
    #expect(activity.activityType == INStartCallIntentIdentifier)
    let asked = activity.interaction?.intent as? INStartCallIntent
    #expect(asked?.contacts?.first?.personHandle?.value == "sip:bob@host")
    #expect(asked?.callCapability == .audioCall && asked?.destinationType == .normal)
    #expect(NSUserActivity(activityType: "other").interaction == nil)
  }

  @Test func theOldIntentsHaveTheirOwnActivities() {
    let people = [Self.person("sip:bob@host")]
    for (intent, identifier) in [
      (INStartAudioCallIntent(contacts: people) as INIntent, INStartAudioCallIntentIdentifier),
      (INStartVideoCallIntent(contacts: people), INStartVideoCallIntentIdentifier),
    ] {
      let activity = NSUserActivity(interaction: INInteraction(intent: intent, response: nil))
      #expect(activity.activityType == identifier)
    }
  }

  @Test func aPersonWithoutANameIsShownByTheHandle() {
    #expect(Self.person("sip:bob@host").displayName == "sip:bob@host")
    #expect(Self.person("sip:bob@host", name: "Bob").displayName == "Bob")
  }

  @Test func donationsAndDeletionsAreCompleteAtOnce() async throws {
    let intent = INStartCallIntent(contacts: nil, callCapability: .unknown)
    let interaction = INInteraction(intent: intent, response: nil)
    #expect(interaction.direction == .unspecified)
    #expect(interaction.intentHandlingStatus == .unspecified)
    interaction.donate(completion: nil)
    try await interaction.donate()
    let (answers, continuation) = AsyncStream<Bool>.makeStream()
    interaction.donate { continuation.yield($0 == nil) }
    INInteraction.deleteAll { continuation.yield($0 == nil) }
    INInteraction.delete(with: ["one"]) { continuation.yield($0 == nil) }
    INInteraction.delete(with: "group") { continuation.yield($0 == nil) }
    continuation.finish()
    #expect(await answers.reduce(into: [Bool]()) { $0.append($1) } == [true, true, true, true])
  }

  /// The initialisers of iOS 13 and 14, as apps write them.
  @Test func callsAreAskedForInApplesWords() {
    let bob = Self.person("sip:bob@host")
    let record = INCallRecord(
      identifier: "1",
      dateCreated: nil,
      callRecordType: .missed,
      callCapability: .audioCall,
      callDuration: 12,
      unseen: true
    )
    let filter = INCallRecordFilter(
      participants: [bob],
      callTypes: [.missed, .received],
      callCapability: .audioCall
    )
    let intent = INStartCallIntent(
      callRecordFilter: filter,
      callRecordToCallBack: record,
      audioRoute: .speakerphoneAudioRoute,
      destinationType: .callBack,
      contacts: [bob],
      callCapability: .audioCall
    )
    #expect(intent.callRecordFilter?.callTypes.contains(.missed) == true)
    #expect(intent.callRecordToCallBack?.callRecordType == .missed)
    #expect(intent.audioRoute == .speakerphoneAudioRoute && intent.destinationType == .callBack)
    let older = INStartCallIntent(
      audioRoute: .unknown,
      destinationType: .redial,
      contacts: nil,
      recordTypeForRedialing: .outgoing,
      callCapability: .audioCall
    )
    #expect(older.recordTypeForRedialing == .outgoing && older.contacts == nil)
    let oldest = INStartAudioCallIntent(destinationType: .emergency, contacts: [bob])
    #expect(oldest.destinationType == .emergency)
  }

  @Test func peopleHavePlacesAndMayBeTheUser() {
    let handle = INPersonHandle(value: "+420", type: .phoneNumber, label: .work)
    let person = INPerson(
      personHandle: handle,
      nameComponents: nil,
      displayName: "Eve",
      image: INImage(named: "eve"),
      contactIdentifier: nil,
      customIdentifier: nil,
      isMe: true,
      suggestionType: .socialProfile
    )
    #expect(person.isMe && person.suggestionType == .socialProfile)
    #expect(person.personHandle?.label == .work)
    #expect(INPersonHandle(value: nil, type: .unknown).label == nil)
  }

  @Test func valuesAreApples() {
    #expect(INPersonHandleType.phoneNumber.rawValue == 2)
    #expect(INCallCapability.videoCall.rawValue == 2)
    #expect(INCallDestinationType.callBack.rawValue == 5)
    #expect(INInteractionDirection.incoming.rawValue == 2)
  }

  /// Handlers as apps write them: with completions, and with `async`.
  @Test func handlersOfAnAssistantCompileAndAnswer() async {
    final class Plain: NSObject, INStartCallIntentHandling {
      func resolveContacts(
        for intent: INStartCallIntent,
        with completion: @escaping ([INStartCallContactResolutionResult]) -> Void
      ) {
        guard let people = intent.contacts else { return completion([.needsValue()]) }
        completion(people.map { INStartCallContactResolutionResult.success(with: $0) })
      }

      func handle(
        intent: INStartCallIntent,
        completion: @escaping (INStartCallIntentResponse) -> Void
      ) {
        let activity = NSUserActivity(activityType: INStartCallIntentIdentifier)
        completion(INStartCallIntentResponse(code: .continueInApp, userActivity: activity))
      }
    }
    final class Newer: NSObject, INStartCallIntentHandling {
      func handle(intent: INStartCallIntent) async -> INStartCallIntentResponse {
        INStartCallIntentResponse(code: .failureCallInProgress, userActivity: nil)
      }
    }
    let intent = INStartCallIntent(contacts: [Self.person("bob")], callCapability: .audioCall)
    await confirmation(expectedCount: 3) { called in
      Plain().resolveContacts(for: intent) { if $0.count == 1 { called() } }
      Plain().handle(intent: intent) { if $0.userActivity != nil { called() } }
      // Left out by the app.
      Plain().confirm(intent: intent) { if $0.code == .ready { called() } }
    }
    #expect(await Newer().handle(intent: intent).code == .failureCallInProgress)
  }
}
