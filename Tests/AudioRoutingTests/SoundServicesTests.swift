import ALSAAudio
import Testing

@testable import AudioRouting

/// Events of a sound server that stops and restarts.
struct SoundServicesTests {
  private static let server = DeviceName.pcm("default")
  private static let card = DeviceName.pcm("hw:1,0")

  private static func route(_ capture: DeviceName?, _ playback: DeviceName?) -> RoutePlan.Route {
    RoutePlan.Route(capture: capture, playback: playback)
  }

  @Test func serverIsLostOnceAndBackOnce() {
    var services = SoundServices()
    let (both, one, none) = (
      Self.route(Self.server, Self.server), Self.route(nil, Self.server), Self.route(nil, nil)
    )
    #expect(services.note(from: both, to: one, because: .deviceLost) == .lost)
    #expect(services.note(from: one, to: none, because: .deviceLost) == nil)
    #expect(services.note(from: none, to: one, because: .newDevice) == nil)
    #expect(services.note(from: one, to: both, because: .newDevice) == .reset)
    #expect(services.note(from: both, to: none, because: .deviceLost) == .lost)
  }

  @Test func cardIsNoService() {
    var services = SoundServices()
    let (both, none) = (Self.route(Self.card, Self.card), Self.route(nil, nil))
    #expect(services.note(from: both, to: none, because: .deviceLost) == nil)
    #expect(services.note(from: none, to: both, because: .newDevice) == nil)
    let files = Self.route(.file("voice.wav"), .null)
    #expect(services.note(from: files, to: none, because: .deviceLost) == nil)
  }

  @Test func whoMovesAwayFromAServerHasNotLostIt() {
    var services = SoundServices()
    let (both, none) = (Self.route(Self.server, Self.server), Self.route(nil, nil))
    let cards = Self.route(Self.card, Self.card)
    #expect(services.note(from: both, to: none, because: .newWish) == nil)
    #expect(services.note(from: none, to: cards, because: .newDevice) == nil)
    // Who has lost it and takes something else has sound services again.
    #expect(services.note(from: both, to: none, because: .deviceLost) == .lost)
    #expect(services.note(from: none, to: cards, because: .newWish) == .reset)
  }
}
