import ALSAIO
import AVFAudio
import CRawALSA
import CallKit
import Foundation
import Rig
import Synchronization

// Measures, over many calls, how long after `fulfil()` the delegate is told that the session is active,
// with both devices running by then: for a new call, before whose fulfilment no device may be open, and
// for one that is resumed while the devices still run, as in a swap.

final class Stopwatch: NSObject, CXProviderDelegate, Sendable {
  private let fulfilled = Mutex<UInt64>(0)
  /// Of new calls, and of resumed ones.
  let milliseconds = Mutex<[Bool: [Double]]>([:])
  private let isResumed = Mutex(false)
  let isDone = DispatchSemaphore(value: 0)

  func providerDidReset(_ provider: CXProvider) {}

  func provider(_ provider: CXProvider, perform action: CXStartCallAction) {
    guard AVAudioSession.sharedInstance().voiceEngine == nil else {
      print("a device was open before the fulfilment")
      exit(1)
    }
    fulfil(action, isResumed: false)
  }

  func provider(_ provider: CXProvider, perform action: CXSetHeldCallAction) {
    fulfil(action, isResumed: true)
  }

  private func fulfil(_ action: CXAction, isResumed: Bool) {
    self.isResumed.withLock { $0 = isResumed }
    fulfilled.withLock { $0 = DispatchTime.now().uptimeNanoseconds }
    action.fulfill()
  }

  func provider(_ provider: CXProvider, didActivate audioSession: AVAudioSession) {
    let now = DispatchTime.now().uptimeNanoseconds
    let taken = Double(now - fulfilled.withLock { $0 }) / 1e6
    let isResumed = isResumed.withLock { $0 }
    milliseconds.withLock { $0[isResumed, default: []].append(taken) }
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

let work = try WorkFolder()
let server = try JackServer(in: work.url)
let rig = try HeadsetRig(playing: [[], []], seconds: 1)
let device = DeviceName.pcm("headsetA")
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
  for action in [
    start, CXSetHeldCallAction(call: call, onHold: true),
    CXSetHeldCallAction(call: call, onHold: false), CXEndCallAction(call: call),
  ] {
    controller.request(CXTransaction(action: action)) { error in
      if let error { print("refused: \(error)") }
    }
    stopwatch.isDone.wait()
  }
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

let measured = stopwatch.milliseconds.withLock { $0 }
_ = show("fulfil to didActivate, devices running", measured[true] ?? [])
let ours = show("fulfil to didActivate", measured[false] ?? [])
if !raw.isEmpty {
  let bare = show("bare ALSA, both directions", raw)
  print(String(format: "ratio %.2f", ours / bare))
}
rig.stop()
server.stop()
work.remove()
