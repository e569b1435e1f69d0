import ALSAAudio
import AudioRouting
import AVFAudio
import ArgumentParser
import CallSecurity
import CallStore
import Foundation
import Localization
import RealTime
import SIPSignalling
import SidetonePhone
import SpeechDSP
import VoiceEngine

/// Which microphone and loudspeaker to use.
struct DeviceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Microphone and loudspeaker: an ALSA PCM (hw:1,0, default, ...), or null.",
      valueName: "name"
    )
  )
  var headset: String?

  @Option(
    help: ArgumentHelp(
      "Microphone: an ALSA PCM, file:PATH.wav to play a file as the microphone, or null.",
      valueName: "name"
    )
  )
  var capture: String?

  @Option(
    help: ArgumentHelp(
      "Loudspeaker: an ALSA PCM, file:PATH.wav to record what would sound, or null.",
      valueName: "name"
    )
  )
  var playback: String?

  @Flag(inversion: .prefixedNo, help: "Take the loudspeaker's sound out of the microphone's.")
  var echoCancellation = false

  @Flag(inversion: .prefixedNo, help: "Lower steady noise; costs 5 ms.")
  var noiseSuppression = false

  @Flag(inversion: .prefixedNo, help: "Bring speech to an even level; costs 5 ms.")
  var gainControl = false

  @Flag(help: "Set the card up by its ALSA profile (UCM) first, where no sound server does.")
  var cardProfile = false

  @Option(
    help: ArgumentHelp(
      "The card's period, 1 to 40 ms; a longer one saves processor time and adds twice its length.",
      valueName: "ms"
    )
  )
  var period = 2.5

  func validate() throws {
    guard (1...40).contains(period) else {
      throw ValidationError(localized: "--period is between 1 and 40")
    }
    if let headset, case .file = DeviceName(headset) {
      throw ValidationError(
        localized: "a file is one side only; use --capture file:... or --playback file:..."
      )
    }
  }

  /// What the user has named, or else the best there is now.
  var devices: AVAudioSession.Devices {
    let (microphone, loudspeaker) = resolved
    return .init(capture: microphone.now, playback: loudspeaker.now)
  }

  /// A device of a call.
  private struct Resolved {
    /// What is there.
    let now: DeviceName
    /// The device that is used whenever its card is plugged in.
    let wanted: KnownDevice
    /// What stands in for it; nil for what the user has named.
    var standIn: DeviceName?
    /// Whether no device was ever chosen.
    var isAutomatic = false
  }

  private var resolved: (microphone: Resolved, loudspeaker: Resolved) {
    let named = named
    let isComplete = RememberedSide.allCases.allSatisfy { named[$0] != nil }
    let ranking = isComplete ? nil : DeviceChoices()
    func device(_ side: RememberedSide) -> Resolved {
      if let known = named[side] { return Resolved(now: DeviceName(known.name), wanted: known) }
      let best = ranking?.best(side)?.name ?? .pcm("default")
      let now = ranking?.preferred(side)?.name ?? best
      let remembered = ranking?.remembered(side)
      return Resolved(
        now: now,
        wanted: remembered ?? KnownDevice(now, identity: nil),
        standIn: best,
        isAutomatic: remembered == nil
      )
    }
    return (device(.microphone), device(.loudspeaker))
  }

  /// What the user has named, with the cards that have these names now.
  var named: [RememberedSide: KnownDevice] {
    let cards = SoundCard.all()
    func known(_ name: String?) -> KnownDevice? {
      name.map { KnownDevice(DeviceName($0), among: cards) }
    }
    var named: [RememberedSide: KnownDevice] = [:]
    named[.microphone] = known(capture ?? headset)
    named[.loudspeaker] = known(playback ?? headset)
    return named
  }

  var wishes: DeviceWishes {
    DeviceWishes(periodNanoseconds: Int64(period * 1e6), usesProfile: cardProfile)
  }

  var filters: SpeechFilterSettings {
    SpeechFilterSettings(
      echoCancellation: echoCancellation,
      noiseSuppression: noiseSuppression,
      gainControl: gainControl
    )
  }

  /// Sets the devices of a phone; those that are there are opened and closed, so that a wrong name
  /// is known before anybody is called.
  ///
  /// A card that another program has is waited for in the call.
  func apply(to configuration: inout PhoneConfiguration) throws {
    let (microphone, loudspeaker) = resolved
    var automatic: StreamDirections = []
    if microphone.isAutomatic { automatic.formUnion(.capture) }
    if loudspeaker.isAutomatic { automatic.formUnion(.playback) }
    try check(capture: microphone.now, playback: .null)
    try check(capture: .null, playback: checkablePlayback(loudspeaker.now))
    var devices = DeviceSelection(
      capture: DeviceName(microphone.wanted.name),
      playback: DeviceName(loudspeaker.wanted.name),
      automatic: automatic
    )
    devices.known = KnownCards(capture: microphone.wanted, playback: loudspeaker.wanted)
    devices.captureStandIn = microphone.standIn ?? microphone.now
    devices.playbackStandIn = loudspeaker.standIn ?? loudspeaker.now
    configuration.devices = devices
    configuration.filters = filters
    configuration.usesCardProfiles = cardProfile
    configuration.ioBufferDuration = period / 1_000
  }

  private func check(capture: DeviceName, playback: DeviceName) throws {
    do {
      _ = try Headset(capture: capture, playback: playback, wishes: wishes)
    } catch let error where error.kind == .busy {}
  }

  // A recording is not begun for a check; its folder is looked at instead.
  private func checkablePlayback(_ name: DeviceName) throws -> DeviceName {
    guard case .file(let path) = name else { return name }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw CommandFailure("cannot record to \"\(path)\": the folder cannot be written")
    }
    return .null
  }
}

/// How the voice is encoded.
struct VoiceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Packet duration, ms: 2.5, 5, 10, 20, 40 or 60. Default: 10; 5 while the network is clean.",
      valueName: "ms"
    )
  )
  var frame: Double?

  @Option(
    help: ArgumentHelp(
      "Opus bit rate in bit/s, 6000 to 510000. Default: what suits the network, 48000 at first.",
      valueName: "bit/s"
    )
  )
  var bitrate: Int?

  @Option(
    help: ArgumentHelp(
      "How much Opus computes, 0 to 10; less sounds a little worse.",
      valueName: "n"
    )
  )
  var complexity = 9

  @Flag(inversion: .prefixedNo, help: "Send redundancy when packets are lost.")
  var fec = true

  @Flag(inversion: .prefixedNo, help: "Send less during silence (DTX).")
  var dtx = false

  @Flag(help: "Let encrypted packets be as long as the words need, which tells something of them.")
  var vbr = false

  @Option(
    help: ArgumentHelp(
      "Codecs to offer, best first: opus, pcmu, pcma. Without a far side the first one is used.",
      valueName: "list"
    )
  )
  var codecs = "opus,pcmu,pcma"

  func validate() throws {
    guard [2.5, 5, 10, 20, 40, 60].contains(frame ?? 10) else {
      throw ValidationError(localized: "--frame is 2.5, 5, 10, 20, 40 or 60")
    }
    guard (6_000...510_000).contains(bitrate ?? 48_000) else {
      throw ValidationError(localized: "--bitrate is between 6000 and 510000")
    }
    guard (0...10).contains(complexity) else {
      throw ValidationError(localized: "--complexity is between 0 and 10")
    }
    guard !offeredCodecs.isEmpty, offeredCodecs.count == codecs.split(separator: ",").count else {
      throw ValidationError(localized: "--codecs is a list of opus, pcmu and pcma")
    }
  }

  var offeredCodecs: [OfferedCodec] {
    codecs.split(separator: ",").compactMap { name in
      switch name.lowercased() {
      case "opus": .opus
      case "pcmu": .pcmu
      case "pcma": .pcma
      default: nil
      }
    }
  }

  var packetFrames: Int { Int((frame ?? 10) * 48) }

  /// A duration or a rate that was asked for is kept.
  private var adaptsPackets: Bool { frame == nil && bitrate == nil }

  /// A stream of the preferred codec, without negotiation.
  var stream: StreamConfiguration {
    switch offeredCodecs.first {
    case .pcmu: return telephoneStream(.pcmu, payloadType: 0)
    case .pcma: return telephoneStream(.pcma, payloadType: 8)
    case .opus, nil: return opusStream
    }
  }

  private func telephoneStream(
    _ codec: StreamConfiguration.Codec,
    payloadType: UInt8
  ) -> StreamConfiguration {
    StreamConfiguration(
      codec: codec,
      sendPayloadType: payloadType,
      receivePayloadType: payloadType,
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max)
    )
  }

  private var opusStream: StreamConfiguration {
    var configuration = StreamConfiguration.opus(
      ssrc: .random(in: 1...UInt32.max),
      seed: .random(in: 1...UInt64.max),
      withCopies: fec
    )
    configuration.packetFrames = packetFrames
    configuration.bitrate = bitrate ?? 48_000
    configuration.complexity = complexity
    configuration.usesInBandRedundancy = fec
    configuration.adaptsPackets = fec && adaptsPackets
    configuration.usesDiscontinuousTransmission = dtx
    return configuration
  }

  func apply(to configuration: inout PhoneConfiguration) {
    configuration.codecs = offeredCodecs
    configuration.packetFrames = packetFrames
    configuration.bitrate = bitrate ?? 48_000
    configuration.adaptsPackets = adaptsPackets
    configuration.complexity = complexity
    configuration.usesRedundancy = fec
    configuration.usesVariableBitRate = vbr
    configuration.usesDiscontinuousTransmission = dtx
  }
}

/// Where to listen, how long, what to print.
struct CallOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "SIP address to listen at; port 0 for any. Default: every address, port 5060 (call: any).",
      valueName: "host:port"
    )
  )
  var listen: String?

  @Option(help: ArgumentHelp("Port for RTP; 0 for any.", valueName: "n"))
  var rtpPort: UInt16 = 0

  @Option(help: ArgumentHelp("Hang up after so long.", valueName: "seconds"))
  var duration: Double?

  @Option(help: ArgumentHelp("The user part of this side's address.", valueName: "name"))
  var user = "sidetone"

  @Option(help: ArgumentHelp("The name to show to others.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Calls at a time; others get busy. Default: 2, with --answer 1, with --echo 50 per core.",
      valueName: "n"
    )
  )
  var calls: Int?

  @Option(help: ArgumentHelp("How long a caller waits for an answer.", valueName: "seconds"))
  var ringDuration = 60.0

  @Option(
    help: ArgumentHelp("Where to ring: an ALSA name, file:PATH.wav or none.", valueName: "name")
  )
  var ringer = "default"

  @Option(
    help: ArgumentHelp(
      "Encryption: required, preferred (if the far side can; always if it ever could) or off.",
      valueName: "policy"
    )
  )
  var security = SecurityPolicy.preferred

  @Option(
    help: ArgumentHelp(
      "Use only this account of \"sidetone account\"; none for none. Default: all of them.",
      valueName: "address"
    )
  )
  var account: String?

  /// How a call shows on a terminal.
  enum DisplayStyle: String, EnumerableFlag {
    case automatic, plain, screenReader

    static func name(for value: Self) -> NameSpecification {
      value == .automatic ? .customLong("screen") : .long
    }

    static func help(for value: Self) -> ArgumentHelp? {
      switch value {
      case .automatic: "Show a call on the whole terminal (default)."
      case .plain: "Show a call as lines."
      case .screenReader: "Show a call as lines that do not change."
      }
    }
  }

  @Flag var displayStyle = DisplayStyle.automatic

  @Option(
    help: ArgumentHelp("Write a page about the call to this HTML file.", valueName: "file")
  )
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Where recordings go. Default: sidetone/recordings in the user's data.",
      valueName: "folder"
    )
  )
  var recordings: String?

  @Flag(help: "Read keys from standard input even if it is no terminal.")
  var keys = false

  @Flag(help: "Print events as JSON, one per line.")
  var json = false

  @Option(help: "Log to standard error: trace, debug, info, warning or error.")
  var logLevel = "warning"

  func validate() throws {
    if let duration, !(duration > 0 && duration < 1e9) {
      throw ValidationError(localized: "--duration is a positive number of seconds")
    }
    guard (1...3_600).contains(ringDuration) else {
      throw ValidationError(localized: "--ring-duration is between 1 and 3600")
    }
    guard (1...500).contains(calls ?? 1) else {
      throw ValidationError(localized: "--calls is between 1 and 8, with --echo up to 500")
    }
    guard ["trace", "debug", "info", "warning", "error"].contains(logLevel) else {
      throw ValidationError(localized: "--log-level is trace, debug, info, warning or error")
    }
    if let listen, Self.split(listen) == nil {
      throw ValidationError(
        localized: "--listen is HOST:PORT with a numeric host, for example 0.0.0.0:5060"
      )
    }
  }

  /// The account to call with; nil to choose by whom is called.
  var callingAccount: String? { account == "none" ? nil : account }

  // With an own address to listen at a call stays between the machines, unless an account is named.
  private func accounts() throws -> [SIPAccount] {
    guard account != "none", account != nil || listen == nil else { return [] }
    let all = try AccountBook.ofUser.accounts()
    return try account.map { [try all.named($0)] } ?? all
  }

  func apply(to configuration: inout PhoneConfiguration, defaultPort: UInt16) throws {
    configuration.accounts = try CommandFailure.orFail { try accounts() }
    let listen = listen.flatMap { Self.split($0) }
    configuration.hosts = listen?.host.map { [$0] } ?? []
    configuration.bindsMediaToHost = listen?.host != nil
    configuration.port = listen?.port ?? defaultPort
    configuration.mediaPort = rtpPort
    configuration.user = user
    configuration.displayName = name
    configuration.ringDuration = ringDuration
    configuration.security = security
  }

  /// Host (nil for every address) and port of `--listen`.
  static func split(_ text: String) -> (host: String?, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    if host.isEmpty || host == "0.0.0.0" || host == "::" { return (nil, port) }
    let isNumeric = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    return isNumeric ? (host, port) : nil
  }
}

/// An error that ends the program with status 1 and one line.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  /// A text, which is said in the user's language.
  init(_ text: LocalizationValue) {
    description = String(localized: text)
  }

  /// A reason that was made elsewhere.
  init(reason: String) {
    description = String(localizedReason: reason)
  }

  /// Runs `work`, whose error ends the program with its description.
  static func orFail<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }

  /// Runs `work`, whose error ends the program with its description.
  static func orFail<Result>(_ work: () async throws -> Result) async throws -> Result {
    do {
      return try await work()
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
  }
}
