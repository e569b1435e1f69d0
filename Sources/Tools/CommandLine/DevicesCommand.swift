import ALSAAudio
import ArgumentParser
import CallStore
import Localization

struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List headsets, and the one that would be used."
  )

  func run() {
    let ranking = DeviceChoices()
    let choices = RememberedSide.allCases.map { ($0, ranking.preferred($0)) }
    guard !ranking.devices.isEmpty else {
      print(String(localized: "No sound device was found."))
      if let obstacle = DeviceList.obstacle() { return print(obstacle) }
      let advice: LocalizationValue = .init(
        localized: "Without one, use --capture file:VOICE.wav --playback file:HEARD.wav, or null."
      )
      return print(String(localized: advice))
    }
    for device in ranking.devices {
      let mark = choices.contains { ranking.isChoice($0.1, device) } ? "*" : " "
      let sides = [
        device.isCapture ? String(localized: "in") : nil,
        device.isPlayback ? String(localized: "out") : nil,
      ]
      let kind = sides.compactMap { $0 }.joined(separator: "/")
      print("\(mark) \(pad(device.name, 34)) \(pad(kind, 6)) \(device.label)")
    }
    for case (let side, let choice?) in choices {
      let text: LocalizationValue =
        switch side {
        case .microphone:
          .init(localized: "\(choice.name) would be the microphone: \(reason: choice.reason).")
        case .loudspeaker:
          .init(localized: "\(choice.name) would be the loudspeaker: \(reason: choice.reason).")
        }
      print("* " + String(localized: text))
    }
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text.padded(toTerminalColumns: width)
  }
}
