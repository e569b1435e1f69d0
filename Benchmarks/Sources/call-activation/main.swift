import ALSAIO
import AVFAudio
import CRawALSA
import CallKit
import Foundation
import Synchronization

// Measures, over many calls, how long after `fulfil()` the delegate is told that the session is active,
// with both devices running by then; and that before it no device was open.

final class Stopwatch: NSObject, CXProviderDelegate, Sendable {
  private let fulfilled = Mutex<UInt64>(0)
  let milliseconds = Mutex<[Double]>([])
  let isDone = DispatchSemaphore(value: 0)

  func providerDidReset(_ provider: CXProvider) {}

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    guard AVAudioSession.sharedInstance().voiceEngine == nil else {
      print("a device was open before the fulfilment")
      exit(1)
    }
    fulfilled.withLock { $0 = DispatchTime.now().uptimeNanoseconds }
    action.fulfill()
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    let now = DispatchTime.now().uptimeNanoseconds
    let taken = Double(now - fulfilled.withLock { $0 }) / 1e6
    milliseconds.withLock { $0.append(taken) }
    isDone.signal()
  }

  func provider(_ provider: CXProvider, perform action: CXEndCallAction) {
    action.fulfill()
  }

  func provider(_ provider: CXProvider, didDeactivate audioSession: AVAudioSession) {
    isDone.signal()
  }

  func provider(
    _ provider: CXProvider,
    failedToActivate audioSession: AVAudioSession,
    error: any Error
  ) {
    print("the session could not be activated: \(error)")
    exit(1)
  }
}

let device = DeviceName(CommandLine.arguments.dropFirst().first ?? "null")
let stopwatch = Stopwatch()
let provider = CXProvider(configuration: CXProviderConfiguration(localizedName: "benchmark"))
provider.setDelegate(stopwatch, queue: DispatchQueue(label: "benchmark"))
let controller = CXCallController()
AVAudioSession.sharedInstance().devices = .init(capture: device, playback: device)

// A call and the bare devices by turns, so that both meet the same moments of the machine.
var raw: [Double] = []
for _ in 0..<30 {
  if case .pcm(let name) = device { unsafe raw.append(raw_alsa_activation(name)) }
  let call = UUID()
  let start = CXStartCallAction(call: call, handle: CXHandle(type: .generic, value: "nobody"))
  controller.request(CXTransaction(action: start)) { _ in }
  stopwatch.isDone.wait()
  controller.request(CXTransaction(action: CXEndCallAction(call: call))) { _ in }
  stopwatch.isDone.wait()
}

func show(_ title: String, _ milliseconds: [Double]) -> Double {
  let sorted = milliseconds.sorted()
  let median = sorted[sorted.count / 2]
  print(
    String(
      format: "%@ (%@)  median %.2f ms  5 %% %.2f  95 %% %.2f  of %d",
      title,
      device.description,
      median,
      sorted[sorted.count / 20],
      sorted[sorted.count * 19 / 20],
      sorted.count
    )
  )
  return median
}

let ours = show("fulfil to didActivate", stopwatch.milliseconds.withLock { $0 })
if !raw.isEmpty {
  let bare = show("bare ALSA, both directions", raw)
  print(String(format: "ratio %.2f", ours / bare))
}
