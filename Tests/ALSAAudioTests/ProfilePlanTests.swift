import Testing

@testable import ALSAAudio

struct ProfilePlanTests {
  private static let card = SoundCard(number: 0, id: "PCH", name: "", identity: .init(path: ""))
  private static let speaker = ProfilePlan.Port(name: "Speaker", pcm: "hw:PCH,0")
  private static let screen = ProfilePlan.Port(name: "HDMI1", pcm: "_ucm0001.hw:PCH,3")

  private static func headphones(isPlugged: Bool?) -> ProfilePlan.Port {
    .init(name: "Headphones", pcm: "hw:0,0", isPlugged: isPlugged)
  }

  private static func port(_ ports: [ProfilePlan.Port], device: String = "0") -> String? {
    ProfilePlan.port(among: ports, device: device, of: card)?.name
  }

  @Test func callOverANetworkIsTheUseCase() {
    #expect(ProfilePlan.verb(among: ["HiFi", "Voice Call", "Voice Call IP"]) == "Voice Call IP")
    #expect(ProfilePlan.verb(among: ["Voice Call", "HiFi"]) == "HiFi")
    #expect(ProfilePlan.verb(among: ["Direct"]) == "Direct")
    #expect(ProfilePlan.verb(among: []) == nil)
  }

  @Test(arguments: [(true, "Headphones"), (false, "Speaker")])
  func headphonesAreUsedWhileTheyArePluggedIn(isPlugged: Bool, port: String) {
    let ports = [Self.screen, Self.speaker, Self.headphones(isPlugged: isPlugged)]
    #expect(Self.port(ports) == port)
  }

  @Test func portBehindAnotherPCMOrCardIsNotSwitchedOn() {
    let ports = [Self.screen, Self.speaker]
    #expect(Self.port(ports, device: "3") == "HDMI1")
    #expect(Self.port(ports, device: "7") == nil)
    #expect(Self.port([.init(name: "Mic", pcm: nil)]) == nil)
    #expect(Self.port([.init(name: "Mic", pcm: "hw:acp,0")]) == nil)
  }

  @Test func whatIsKnownToBePluggedInIsBetterThanWhatMayBe() {
    let headset = ProfilePlan.Port(name: "Headset", pcm: "hw:PCH")
    #expect(Self.port([headset, Self.headphones(isPlugged: true)]) == "Headphones")
    #expect(Self.port([Self.speaker, headset]) == "Headset")
  }
}
