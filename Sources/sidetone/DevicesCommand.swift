import ALSAIO
import ArgumentParser

struct DevicesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List headsets, and the one that would be used."
  )

  func run() {
    let devices = DeviceList.all()
    let microphone = DeviceList.preferred(among: devices, capture: true)
    let loudspeaker = DeviceList.preferred(among: devices, capture: false)
    guard !devices.isEmpty else {
      print("No sound device was found.")
      print("Without one, use --capture file:VOICE.wav --playback file:HEARD.wav, or null.")
      return
    }
    for device in devices {
      let isMicrophone = device == microphone
      let isLoudspeaker = device == loudspeaker
      let mark = isMicrophone || isLoudspeaker ? "*" : " "
      let sides = [device.isCapture ? "in" : nil, device.isPlayback ? "out" : nil]
      let kind = sides.compactMap { $0 }.joined(separator: "/")
      print("\(mark) \(pad(device.name, 34)) \(pad(kind, 6)) \(device.label)")
    }
    for (device, side) in [(microphone, "microphone"), (loudspeaker, "loudspeaker")] {
      guard let device else { continue }
      print("* \(device.name) would be the \(side): \(DeviceList.reason(for: device)).")
    }
  }

  private func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
