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

  @Test func donationsAreCompleteAtOnce() {
    let intent = INStartCallIntent(contacts: nil, callCapability: .unknown)
    let interaction = INInteraction(intent: intent, response: nil)
    var completions = 0
    interaction.donate { if $0 == nil { completions += 1 } }
    #expect(completions == 1 && interaction.direction == .unspecified)
  }

  @Test func valuesAreApples() {
    #expect(INPersonHandleType.phoneNumber.rawValue == 2)
    #expect(INCallCapability.videoCall.rawValue == 2)
    #expect(INCallDestinationType.callBack.rawValue == 5)
    #expect(INInteractionDirection.incoming.rawValue == 2)
  }
}
