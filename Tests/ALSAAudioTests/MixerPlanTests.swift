import RealTime
import Testing

@testable import ALSAAudio

/// Changes that a call makes to a card's mixer.
struct MixerPlanTests {
  private typealias Control = MixerPlan.Control

  private static func changes(_ side: StreamDirections, _ controls: [Control]) -> [MixerPlan.Change]
  {
    MixerPlan(for: side, controls: controls).changes
  }

  @Test func silentCardIsMadeAudible() {
    let master = Control(name: "Master", side: .playback, isOn: false, level: 0)
    let microphone = Control(
      name: "Headset Mic",
      side: .capture,
      isOn: false,
      level: 0,
      neutralLevel: 0.8
    )
    let controls = [master, microphone]
    #expect(
      Self.changes(.capture, controls) == [.turnOn(microphone), .raise(microphone, to: 0.8)]
    )
    #expect(
      Self.changes(.playback, controls) == [.turnOn(master), .raise(master, to: 2.0 / 3)]
    )
  }

  @Test func whatTheUserHasChosenStays() {
    let controls = [
      Control(name: "Master", side: .playback, isOn: true, level: 0.1),
      Control(name: "Capture", side: .capture, isOn: true, level: 0.05, neutralLevel: 0.5),
      Control(name: "PCM", side: .playback, level: 1),
    ]
    #expect(Self.changes(.capture, controls).isEmpty)
    #expect(Self.changes(.playback, controls).isEmpty)
  }

  @Test func whatIsNotOnTheVoicesWayStays() {
    let controls = [
      // What lets users hear themselves.
      Control(name: "Mic", side: .playback, isOn: false, level: 0),
      Control(name: "Line", side: .capture, isOn: false, level: 0),
      Control(name: "Mic Boost", side: .capture, level: 0),
      Control(name: "Beep", side: .playback, isOn: false, level: 0),
      Control(name: "Headphone", side: .playback, isOn: true, level: 0.5),
      Control(name: "Speaker", side: .playback, isOn: false, level: 0),
    ]
    #expect(Self.changes(.capture, controls).isEmpty)
    #expect(Self.changes(.playback, controls).isEmpty)
  }

  @Test func switchThatIsOffAtALevelIsTheUsersMute() {
    let controls = [
      Control(name: "Capture", side: .capture, isOn: false, level: 0.6),
      Control(name: "Master", side: .playback, isOn: false, level: 0.6),
      Control(name: "Headset", side: .capture, isOn: false),
    ]
    #expect(Self.changes(.capture, controls).isEmpty)
    #expect(Self.changes(.playback, controls).isEmpty)
  }

  @Test func oneInputIsChosenIfNoneIs() {
    func input(_ name: String, isOn: Bool, _ index: UInt32 = 0) -> Control {
      Control(name: name, index: index, side: .capture, isOn: isOn, isChoice: true, level: 0)
    }
    let headset = input("Headset Mic", isOn: false)
    let second = input("Headset Mic", isOn: false, 1)
    let line = input("Line", isOn: true)
    #expect(Self.changes(.capture, [line, headset]).isEmpty)
    #expect(
      Self.changes(.capture, [headset, second])
        == [.turnOn(headset), .raise(headset, to: 2.0 / 3)]
    )
  }

  @Test func loudspeakerWithoutHeadphonesIsTurnedOn() {
    let speaker = Control(name: "Speaker", side: .playback, isOn: false, level: 0)
    #expect(
      Self.changes(.playback, [speaker]) == [.turnOn(speaker), .raise(speaker, to: 2.0 / 3)]
    )
  }
}
