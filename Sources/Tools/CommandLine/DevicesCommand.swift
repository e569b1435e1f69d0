import ALSAAudio
import ArgumentParser
import CallStore

struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List headsets, and the one that would be used."
  )

  func run() {
    let ranking = DeviceChoices()
    let choices = RememberedSide.allCases.map { ($0, ranking.preferred($0)) }
    guard !ranking.devices.isEmpty else {
      print("No sound device was found.")
      print("Without one, use --capture file:VOICE.wav --playback file:HEARD.wav, or null.")
      return
    }
    for device in ranking.devices {
      let mark = choices.contains { ranking.isChoice($0.1, device) } ? "*" : " "
      let sides = [device.isCapture ? "in" : nil, device.isPlayback ? "out" : nil]
      let kind = sides.compactMap { $0 }.joined(separator: "/")
      print("\(mark) \(pad(device.name, 34)) \(pad(kind, 6)) \(device.label)")
    }
    for case (let side, let choice?) in choices {
      print("* \(choice.name) would be the \(side): \(choice.reason).")
    }
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
