import ALSAAudio
import AudioRouting
import ArgumentParser
import CallStore
import SIPSignalling
import SpeechDSP
import Testing
import VoiceStream

@testable import CommandLine
@testable import SidetonePhone

struct OptionsTests {
  private static func fails<Options: ParsableArguments>(
    _ type: Options.Type,
    _ arguments: String...
  ) -> String? {
    do {
      _ = try Options.parse(arguments)
      return nil
    } catch {
      return Options.message(for: error)
    }
  }

  // MARK: Voice

  @Test func defaultsOfAVoiceFollowTheNetwork() throws {
    let options = try VoiceOptions.parse([])
    var configuration = PhoneConfiguration()
    options.apply(to: &configuration)
    #expect(configuration.adaptsPackets && configuration.usesRedundancy)
    #expect(configuration.codecs == [.opus, .pcmu, .pcma])
    #expect(configuration.packetFrames == 480 && configuration.bitrate == 48_000)
    #expect(!configuration.usesDiscontinuousTransmission)
  }

  @Test(arguments: [["--frame", "20"], ["--bitrate", "32000"]])
  func whatIsAskedForIsKept(arguments: [String]) throws {
    let options = try VoiceOptions.parse(arguments)
    var configuration = PhoneConfiguration()
    options.apply(to: &configuration)
    #expect(!configuration.adaptsPackets)
    #expect(!options.stream.adaptsPackets)
  }

  @Test(arguments: ["2.5", "5", "10", "20", "40", "60"])
  func framesOfOpusAreTaken(frame: String) throws {
    let options = try VoiceOptions.parse(["--frame", frame])
    #expect(Double(options.packetFrames) == 48 * Double(frame)!)
    #expect(options.stream.packetFrames == options.packetFrames)
    let suited = StreamConfiguration.suitedBitrate(forPacketsOf: options.packetFrames)
    #expect(options.stream.bitrate == suited, "short packets need more bits")
  }

  @Test func impossibleVoicesAreRefusedInWords() {
    for (name, value, word) in [
      ("--frame", "15", "2.5, 5, 10"), ("--frame", "nan", "2.5, 5, 10"),
      ("--bitrate", "5999", "between 6000"), ("--bitrate", "510001", "510000"),
      ("--complexity", "11", "between 0 and 10"), ("--codecs", "opus,g729", "opus, pcmu"),
      ("--codecs", "", "opus, pcmu"),
    ] {
      let message = Self.fails(VoiceOptions.self, name, value)
      #expect(message?.contains(word) == true, "\(name) \(value): \(message ?? "taken")")
    }
  }

  @Test func firstCodecIsUsedWithoutNegotiation() throws {
    let telephone = try VoiceOptions.parse(["--codecs", "PCMA,opus"])
    #expect(telephone.offeredCodecs == [.pcma, .opus])
    #expect(telephone.stream.codec == .pcma && telephone.stream.sendPayloadType == 8)
    let american = try VoiceOptions.parse(["--codecs", "pcmu"])
    #expect(american.stream.codec == .pcmu && american.stream.receivePayloadType == 0)
    let plain = try VoiceOptions.parse(["--no-fec", "--dtx"])
    #expect(plain.stream.sendRedundancyPayloadType == nil)
    #expect(!plain.stream.usesInBandRedundancy && !plain.stream.adaptsPackets)
    #expect(plain.stream.usesDiscontinuousTransmission)
  }

  @Test func twoStreamsNeverShareTheirNumbers() throws {
    let options = try VoiceOptions.parse([])
    let streams = (0..<50).map { _ in options.stream }
    #expect(Set(streams.map(\.ssrc)).count == 50 && Set(streams.map(\.seed)).count == 50)
  }

  // MARK: Calls

  @Test func addressesToListenAt() {
    for (text, host, port) in [
      ("10.0.0.1:5060", "10.0.0.1", 5_060), ("[fe80::1]:5070", "fe80::1", 5_070),
      ("127.0.0.1:0", "127.0.0.1", 0),
    ] as [(String, String, UInt16)] {
      let split = CallOptions.split(text)
      #expect(split?.host == host && split?.port == port, "\(text)")
    }
    for text in ["0.0.0.0:5060", "[::]:5060", ":5060"] {
      let split = CallOptions.split(text)
      #expect(split != nil && split?.host == nil, "\(text) means every address")
    }
    for text in ["", "10.0.0.1", "host:5060", "10.0.0.1:70000", "10.0.0.1:x", "10.0.0.1:-1"] {
      #expect(CallOptions.split(text) == nil, "\(text)")
    }
  }

  @Test func addressPortAndNamesReachThePhone() throws {
    let options = try CallOptions.parse([
      "--listen", "10.0.0.1:5080", "--rtp-port", "4000", "--user", "bob", "--name", "Bob B.",
      "--ring-duration", "20",
    ])
    var configuration = PhoneConfiguration()
    try options.apply(to: &configuration, defaultPort: 5_060)
    #expect(configuration.hosts == ["10.0.0.1"] && configuration.port == 5_080)
    #expect(configuration.mediaPort == 4_000 && configuration.ringDuration == 20)
    #expect(configuration.user == "bob" && configuration.displayName == "Bob B.")
    let plain = try CallOptions.parse(["--account", "none"])
    try plain.apply(to: &configuration, defaultPort: 5_060)
    #expect(configuration.hosts == [] && configuration.port == 5_060)
  }

  @Test func callsAtATimeAreAsManyAsFitTheKindOfLine() throws {
    let plain = try CallOptions.parse([])
    #expect(plain.maximumCalls(answersAtOnce: false) == 2)
    #expect(plain.maximumCalls(answersAtOnce: true) == 1)
    #expect(plain.maximumCalls(echoingOn: 4) == 200)
    let asked = try CallOptions.parse(["--calls", "7"])
    #expect(asked.maximumCalls(answersAtOnce: false) == 7)
    #expect(asked.maximumCalls(answersAtOnce: true) == 7)
    #expect(asked.maximumCalls(echoingOn: 4) == 7)
  }

  @Test func impossibleCallsAreRefusedInWords() {
    for (name, value, word) in [
      ("--duration", "0", "positive"), ("--duration", "-1", "--duration"),
      ("--duration", "inf", "positive"), ("--ring-duration", "0.5", "between 1 and 3600"),
      ("--calls", "0", "--calls"), ("--calls", "501", "--calls"),
      ("--log-level", "loud", "trace, debug"), ("--listen", "example.org:5060", "numeric host"),
      ("--rtp-port", "70000", "--rtp-port"),
    ] {
      let message = Self.fails(CallOptions.self, name, value)
      #expect(message?.contains(word) == true, "\(name) \(value): \(message ?? "taken")")
    }
  }

  // MARK: Devices

  @Test func fileIsOneSideOnly() {
    #expect(Self.fails(DeviceOptions.self, "--headset", "file:x.wav")?.contains("one side") == true)
    #expect(Self.fails(DeviceOptions.self, "--capture", "file:x.wav") == nil)
    #expect(Self.fails(DeviceOptions.self, "--period", "0.5")?.contains("between 1") == true)
    #expect(Self.fails(DeviceOptions.self, "--period", "41")?.contains("between 1") == true)
  }

  @Test func namedDevicesAndFiltersReachThePhone() throws {
    let options = try DeviceOptions.parse([
      "--headset", "null", "--echo-cancellation", "--gain-control", "--period", "4",
      "--card-profile",
    ])
    var configuration = PhoneConfiguration()
    try options.apply(to: &configuration)
    #expect(configuration.devices.capture == .null && configuration.devices.playback == .null)
    #expect(configuration.devices.automatic == [], "what the user names is not chosen again")
    #expect(configuration.filters.echoCancellation && configuration.filters.gainControl)
    #expect(!configuration.filters.noiseSuppression)
    #expect(configuration.usesCardProfiles && configuration.ioBufferDuration == 0.004)
    #expect(options.wishes.periodNanoseconds == 4_000_000)
  }

  @Test func oneSideOverridesTheHeadset() throws {
    let options = try DeviceOptions.parse(["--headset", "hw:7,0", "--playback", "null"])
    #expect(options.named[.microphone]?.name == "hw:7,0")
    #expect(options.named[.loudspeaker]?.name == "null")
  }

  @Test func deviceThatCannotBeOpenedIsRefusedBeforeACall() throws {
    var configuration = PhoneConfiguration()
    let missing = try DeviceOptions.parse([
      "--capture", "file:/nowhere/x.wav", "--playback", "null",
    ])
    #expect(throws: (any Error).self) { try missing.apply(to: &configuration) }
    let readOnly = try DeviceOptions.parse([
      "--capture", "null", "--playback", "file:/nowhere/x.wav",
    ])
    #expect(throws: CommandFailure.self) { try readOnly.apply(to: &configuration) }
  }
}
