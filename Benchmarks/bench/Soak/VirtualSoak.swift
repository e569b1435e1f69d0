import Foundation
import ProgramRig
import Rig
import Simulation
import VoiceEngine

/// A long call in virtual time, with samples of the resources of this process.
struct VirtualSoak {
  /// Duration of the call, in hours.
  let hours: Double
  let network: NetworkConditions
  /// Speech of both sides at 48 kHz, played again and again.
  let sound: [Float]
  /// Frames of each packet; nil to let them follow the network.
  let packetFrames: Int?

  private static let samples = 500

  /// Makes the call between headsets that are 40 ppm apart, and returns the samples.
  func run() throws -> SoakRecord {
    var near = SimulatedCall.Party()
    near.card.isRecorded = false
    near.card.sound = sound
    var far = near
    far.card.captureDrift = 40
    far.card.playbackDrift = 40
    var configuration = StreamConfiguration.opus(ssrc: 1, seed: 1)
    // The codec has no long-term state that depends on it, and takes most of the time.
    configuration.complexity = 0
    if let packetFrames {
      configuration.packetFrames = packetFrames
      configuration.adaptsPackets = false
    }
    let call = try SimulatedCall(
      near: near,
      far: far,
      over: network,
      configuration: configuration,
      seed: 1
    )
    var record = SoakRecord(
      title: String(format: "%g hours in virtual time, network: %@", hours, network.name),
      unit: "time (h)",
      command: Machine().command ?? ""
    )
    let own = ProcessInfo.processInfo.processIdentifier
    for sample in 1...Self.samples {
      var delays: [Double] = []
      call.run(seconds: hours * 3_600 / Double(Self.samples)) { observation in
        if let delay = observation.delay { delays.append(delay) }
      }
      record.samples.append(
        SoakRecord.Sample(
          at: hours * Double(sample) / Double(Self.samples),
          holdings: try ProcessHoldings(of: own),
          delay: delays.isEmpty ? nil : Percentiles(delays).median
        )
      )
    }
    return record
  }
}
