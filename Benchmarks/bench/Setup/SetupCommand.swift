import ProgramRig
import ALSAAudio
import AVFAudio
import ArgumentParser
import CRawALSA
import CallKit
import Foundation
import MediaCore
import RealTime
import Rig
import SRTP
import UDPTransport
import VoiceEngine

/// Command `setup`: measures the time until a call can be heard.
struct SetupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "setup",
    abstract: "From fulfil to the first sound, from INVITE to connected, the session alone."
  )

  @OptionGroup var options: BenchOptions

  private var repeats: Int { options.repeats ?? 30 }

  func run() throws {
    let work = try WorkFolder()
    defer { work.remove() }
    let server = try JackServer(in: work.url)
    server.exportEnvironment()
    defer { server.stop() }
    let rig = try HeadsetRig(playing: [[], []], seconds: 60 + 5 * repeats)
    defer { rig.stop() }
    AVAudioSession.sharedInstance().devices = .init(
      capture: .pcm("headsetA"),
      playback: .pcm("headsetA")
    )
    var report = SetupReport()
    measureResumes(into: &report)
    try measureSession(into: &report)
    let programs = try ProgramCalls(options.program, in: work.url)
    for _ in 0..<min(10, repeats) {
      for isEncrypted in [true, false] {
        try programs.measure(isEncrypted: isEncrypted, into: &report)
      }
    }
    // Last: what the rig has recorded can be read when it has stopped.
    try measureAnswers(on: rig, into: &report)
    report.stalls = JackServer.longOnes(among: server.stalls)
    print(report.text)
    guard let folder = options.results() else { return }
    try ResultFile.write(report, named: "setup", to: folder)
  }

  // A call is answered and talks to a far side that began at the same moment.
  private func measureAnswers(on rig: HeadsetRig, into report: inout SetupReport) throws {
    let far = try FarSide()
    defer { far.stop() }
    guard let any = SocketAddress(host: "127.0.0.1", port: 0), let farAddress = far.address else {
      throw RigError("no loopback address")
    }
    var firstFrames: [Int] = []
    for call in 0..<repeats {
      let bare = unsafe raw_alsa_activation("headsetA")
      if bare >= 0 { report.bareALSA.append(bare) }
      var socket = try MediaSocket(bindingTo: any)
      socket.connect(to: farAddress, control: farAddress)
      let port = socket.localPort
      let stopwatch = CallStopwatch { far.talk(to: port) }
      let provider = CXProvider(configuration: CXProviderConfiguration(localizedName: "benchmark"))
      provider.setDelegate(stopwatch, queue: DispatchQueue(label: "benchmark"))
      let uuid = UUID()
      provider.reportNewIncomingCall(with: uuid, update: CXCallUpdate()) { error in
        if let error { print("refused: \(error)") }
      }
      request(CXAnswerCallAction(call: uuid))
      guard let activation = stopwatch.wait() else { throw RigError("not activated") }
      firstFrames.append(rig.frames - Self.frames(since: activation.fulfilled))
      report.activation.append(Self.milliseconds(activation))
      guard let engine = AVAudioSession.sharedInstance().voiceEngine else {
        throw RigError("no engine after didActivate")
      }
      _ = try engine.streams.attach(
        FarSide.configuration(ssrc: UInt32(100 + call)),
        over: SecureTransport(open: socket)
      )
      Thread.sleep(forTimeInterval: 0.6)
      if let first = far.hush() {
        report.firstSent.append(Double(first.nanoseconds(since: activation.fulfilled)) / 1e6)
      }
      request(CXEndCallAction(call: uuid))
      _ = stopwatch.wait()
      provider.invalidate()
      // Devices linger for half a second.
      Thread.sleep(forTimeInterval: 0.6)
    }
    rig.stop()
    let heard = rig.recording(of: 0)
    for frame in firstFrames where heard.indices.contains(frame) {
      let sound = heard[frame...].prefix(48_000).firstIndex { abs($0) > 0.01 }
      if let sound { report.firstHeard.append(Double(sound - frame) / 48) }
    }
  }

  // A call is resumed while the devices still run.
  private func measureResumes(into report: inout SetupReport) {
    let stopwatch = CallStopwatch {}
    let provider = CXProvider(configuration: CXProviderConfiguration(localizedName: "benchmark"))
    provider.setDelegate(stopwatch, queue: DispatchQueue(label: "benchmark"))
    let uuid = UUID()
    request(CXStartCallAction(call: uuid, handle: CXHandle(type: .generic, value: "nobody")))
    _ = stopwatch.wait()
    for _ in 0..<repeats {
      request(CXSetHeldCallAction(call: uuid, onHold: true))
      _ = stopwatch.wait()
      request(CXSetHeldCallAction(call: uuid, onHold: false))
      if let activation = stopwatch.wait() {
        report.resumption.append(Self.milliseconds(activation))
      }
    }
    request(CXEndCallAction(call: uuid))
    _ = stopwatch.wait()
    Thread.sleep(forTimeInterval: 0.6)
  }

  private func measureSession(into report: inout SetupReport) throws {
    let session = AVAudioSession.sharedInstance()
    try session.setCategory(.playAndRecord, mode: .voiceChat)
    for _ in 0..<repeats {
      for isActive in [true, false] {
        let begin = MonotonicClock.now()
        try session.setActive(isActive)
        let taken = Double(MonotonicClock.now().nanoseconds(since: begin)) / 1e6
        if isActive {
          report.sessionActivation.append(taken)
        } else {
          report.sessionDeactivation.append(taken)
        }
      }
      Thread.sleep(forTimeInterval: 0.6)
    }
  }

  private func request(_ action: CXCallAction) {
    CXCallController().request(CXTransaction(action: action)) { error in
      if let error { print("refused: \(error)") }
    }
  }

  private static func milliseconds(_ activation: CallStopwatch.Activation) -> Double {
    Double(activation.activated.nanoseconds(since: activation.fulfilled)) / 1e6
  }

  private static func frames(since instant: MonotonicInstant) -> Int {
    SampleRate.voice.frames(inNanoseconds: MonotonicClock.now().nanoseconds(since: instant))
  }
}
