import ALSAAudio
import ArgumentParser
import AudioRouting
import AVFAudio
import CallStore
import Foundation
import Localization
import RealTime
import SidetonePhone
import SpeechDSP

/// Options for the microphone, the loudspeaker and the filters between them and the call.
struct DeviceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Microphone and loudspeaker: hw:1,0, default or null.",
      valueName: "name"
    )
  )
  var headset: String?

  @Option(
    help: ArgumentHelp(
      "Microphone: an ALSA PCM, file:PATH.wav to play a file as the microphone, or null.",
      valueName: "name",
      visibility: .rare
    )
  )
  var capture: String?

  @Option(
    help: ArgumentHelp(
      "Loudspeaker: an ALSA PCM, file:PATH.wav to record what would sound, or null.",
      valueName: "name",
      visibility: .rare
    )
  )
  var playback: String?

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Take the loudspeaker's sound out of the microphone's.", visibility: .rare)
  )
  var echoCancellation = false

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Lower steady noise; costs 5 ms.", visibility: .rare)
  )
  var noiseSuppression = false

  @Flag(
    inversion: .prefixedNo,
    help: ArgumentHelp("Bring speech to an even level; costs 5 ms.", visibility: .rare)
  )
  var gainControl = false

  @Flag(
    help: ArgumentHelp(
      "Set the card up by its ALSA profile (UCM) first, where no sound server does.",
      visibility: .rare
    )
  )
  var cardProfile = false

  @Option(
    help: ArgumentHelp(
      "The card's period, 1 to 40 ms; a longer one saves processor time and adds twice its length.",
      valueName: "ms",
      visibility: .rare
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

  /// Throws a `CommandFailure` if the loudspeaker's file or another output is the microphone's
  /// file, or if two outputs are the same file.
  func checkFiles(beside outputs: [(name: String, path: String?)] = []) throws {
    try OutputPaths.check(
      [("--playback", playback.flatMap(Self.file))] + outputs,
      against: [("--capture", capture.flatMap(Self.file))]
    )
  }

  // Path of the file that a device's name stands for; nil for any other device.
  private static func file(_ name: String) -> String? {
    if case .file(let path) = DeviceName(name) { path } else { nil }
  }

  /// Devices that the user has named, or else the remembered or best ones that are there now.
  var devices: AVAudioSession.Devices {
    let (microphone, loudspeaker) = resolved
    return .init(capture: microphone.now, playback: loudspeaker.now)
  }

  /// Candidates for the device of one side of a call.
  private struct Resolved {
    /// Device to take now.
    let now: DeviceName
    /// Device to use whenever its card is plugged in.
    let wanted: KnownDevice
    /// Device that replaces it while its card is missing; nil for a device that the user has named.
    var standIn: DeviceName?
    /// True if the user has never chosen a device.
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

  /// Devices that the user has named, with the cards that have these names now.
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

  /// Sets the devices of a phone.
  ///
  /// Devices that are there are opened and closed, so that a wrong name is noticed before a call. A
  /// card that another program has is waited for in the call.
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
