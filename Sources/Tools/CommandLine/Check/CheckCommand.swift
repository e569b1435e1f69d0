import ALSAAudio
import ArgumentParser
import AudioRouting
import CallSecurity
import CallStore
import Foundation
import Localization
import MediaCore
import RealTime
import UDPTransport
import VoiceEngine

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Is this machine ready for calls? If not, what to do.",
    usage: "sidetone check [<options>] [<address>]",
    discussion: HelpScreen.discussion(
      of: "check",
      """
      Opens the headset that a call would take, plays silence and listens for some seconds; looks \
      at what the system and the network grant; and makes a call to itself. Exit status 1 if \
      something keeps calls from working.
      """
    )
  )

  @Argument(
    help: "A far side, for example sip:bob@192.168.1.20: the way to it is measured as well."
  )
  var address: String?

  @Option(help: ArgumentHelp("How long to run the headset, 3 to 600.", valueName: "seconds"))
  var seconds = 5.0

  @Flag(help: "Print as JSON, one finding per line.")
  var json = false

  @OptionGroup var deviceOptions: DeviceOptions

  func validate() throws {
    guard (3...600).contains(seconds) else {
      throw ValidationError(localized: "--seconds is between 3 and 600")
    }
  }

  func run() async throws {
    try deviceOptions.checkFiles()
    let report = CheckReport(isJSON: json)
    report.begin(String(localized: "the headset, for \(Int(seconds)) s"))
    checkSound(report)
    report.begin(String(localized: "the system"))
    let state = SystemState.find()
    report.add(CheckRules.system(state))
    report.begin(String(localized: "the network"))
    report.add(CheckRules.ports(PortState.ofSIP(), firewall: state.firewall))
    report.add([CheckRules.names(await Self.nameTime())])
    report.add([identity()])
    report.begin(String(localized: "a call to this machine itself, for 4 s"))
    report.add([await testCall()])
    if let address {
      report.begin(String(localized: "the way to \(address)"))
      report.add(await Self.way(to: address))
    }
    report.end()
    if report.hasFault { throw ExitCode.failure }
  }

  // MARK: Sound

  private func checkSound(_ report: CheckReport) {
    let isNamed =
      deviceOptions.headset != nil || deviceOptions.capture != nil
      || deviceOptions.playback != nil
    let choices = DeviceChoices()
    let (microphone, loudspeaker) = (
      choices.preferred(.microphone), choices.preferred(.loudspeaker)
    )
    if !isNamed {
      let obstacle = microphone == nil || loudspeaker == nil ? DeviceList.obstacle() : nil
      report.add(
        CheckRules.devices(microphone: microphone, loudspeaker: loudspeaker, obstacle: obstacle)
      )
      guard microphone != nil, loudspeaker != nil else { return }
    }
    let devices = deviceOptions.devices
    report.add(mixers(of: [(.capture, devices.capture), (.playback, devices.playback)]))
    do throws(AudioDeviceError) {
      let timing = try DeviceTiming.measure(
        capture: devices.capture,
        playback: devices.playback,
        wishes: deviceOptions.wishes,
        seconds: seconds
      )
      let isReal = devices.capture != .null
      report.add(CheckRules.timing(timing, seconds: seconds, hasMicrophone: isReal))
    } catch  where error.kind == .busy {
      report.add([
        .advice(
          subject: "headset",
          saying: "\(error)",
          advising: "a call waits for it; the program that has it can let go"
        )
      ])
    } catch {
      report.add([
        .fault(
          subject: "headset",
          saying: "\(error)",
          advising: "name another one: sidetone devices lists them"
        )
      ])
    }
  }

  // The mixers of the cards that are used; devices of a sound server have none of their own.
  private func mixers(of sides: [(side: StreamDirections, name: DeviceName)]) -> [CheckFinding] {
    let cards = SoundCard.all()
    var used: [Int: StreamDirections] = [:]
    for (side, name) in sides {
      guard let card = CardName(name)?.card(among: cards) else { continue }
      used[card.number, default: []].formUnion(side)
    }
    return used.sorted { $0.key < $1.key }.compactMap { number, sides in
      guard let mixer = CardMixer(card: number) else { return nil }
      let silent = mixer.inaudible(among: sides)
      let names = [(StreamDirections.capture, "microphone"), (.playback, "loudspeaker")]
      return CheckRules.mixer(
        card: cards.first { $0.number == number }?.name ?? "card \(number)",
        silentSides: names.filter { silent.contains($0.0) }.map(\.1)
      )
    }
  }

  // MARK: Network and identity

  /// Host name reserved for examples (RFC 2606); `patience` is the longest wait for its addresses.
  private static let name = "example.org"
  private static let patience = Duration.seconds(3)

  private static func nameTime() async -> Double? {
    let begin = MonotonicClock.now()
    guard await !HostName.addresses(of: name, within: patience).isEmpty else { return nil }
    return Double(MonotonicClock.now().nanoseconds(since: begin)) / 1e6
  }

  private func identity() -> CheckFinding {
    do {
      let words = try IdentityFile(in: CallStore.defaultFolder).load().fingerprint.words
      return .good(subject: "identity", saying: "others know you as \(words)")
    } catch {
      return .fault(
        subject: "identity",
        saying: "\(reason: "\(error)")",
        advising: "once that is mended: sidetone identity"
      )
    }
  }

  private static func way(to address: String) async -> [CheckFinding] {
    do {
      return CheckRules.path(try await PathTiming.measure(to: address))
    } catch {
      return [
        .fault(
          subject: "far side",
          saying: "\(reason: "\(error)")",
          advising: "is the address right (sip:NAME@HOST), and is there a network?"
        )
      ]
    }
  }

  // MARK: Test call

  private func testCall() async -> CheckFinding {
    let call = LoopbackCall(seconds: 4, stream: .opus(ssrc: 1, seed: 1))
    do {
      let report = LoopbackReport(try await call.measure())
      return CheckRules.loopback(report?.median, stages: report?.stages ?? [])
    } catch {
      return .fault(
        subject: "test call",
        saying: "\(reason: "\(error)")",
        advising: "look at what it says: sidetone loopback"
      )
    }
  }
}

/// Printer of findings as they come, and of the subject that is examined until then.
final class CheckReport {
  private let isJSON: Bool
  private let showsProgress: Bool
  private(set) var hasFault = false

  init(isJSON: Bool) {
    self.isJSON = isJSON
    showsProgress = !isJSON && isatty(STDOUT_FILENO) == 1
  }

  /// Shows on a terminal which subject is being examined.
  func begin(_ subject: String) {
    if showsProgress { write("\r\u{1B}[K" + String(localized: "Looking at \(subject) ...")) }
  }

  /// Prints findings.
  func add(_ findings: [CheckFinding]) {
    end()
    for finding in findings {
      write((isJSON ? finding.json : finding.line) + "\n")
      hasFault = hasFault || finding.verdict == .fault
    }
  }

  /// Removes the line that `begin` has shown.
  func end() {
    if showsProgress { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) {
    print(text, terminator: "")
    fflush(nil)
  }
}
