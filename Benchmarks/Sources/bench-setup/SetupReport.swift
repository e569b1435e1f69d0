import Foundation
import Rig

/// What was measured, each call in milliseconds.
struct SetupReport: Codable {
  var date = Date()
  var machine = Machine()
  /// Opening and starting the bare ALSA devices.
  var bareALSA: [Double] = []
  /// From the fulfilment of an answer to didActivate.
  var activation: [Double] = []
  /// From there to the first packet of captured voice, as the far side's kernel received it.
  var firstSent: [Double] = []
  /// From there to the first sound of the far side at the loudspeaker.
  var firstHeard: [Double] = []
  /// From the fulfilment of a resume to didActivate, while the devices still run.
  var resumption: [Double] = []
  /// The session alone.
  var sessionActivation: [Double] = []
  var sessionDeactivation: [Double] = []
  /// Between two programs on this machine.
  var inviteToConnected: [Double] = []
  /// How often jackd was kept waiting for longer than a period.
  var stalls = 0

  /// The rows of the table.
  var rows: [(String, [Double])] {
    [
      ("bare ALSA: open and start both directions", bareALSA),
      ("answer fulfilled to didActivate", activation),
      ("answer fulfilled to first captured frame sent", firstSent),
      ("answer fulfilled to first received frame heard", firstHeard),
      ("resume fulfilled to didActivate, devices running", resumption),
      ("session alone: activate", sessionActivation),
      ("session alone: deactivate", sessionDeactivation),
      ("INVITE to connected, two programs", inviteToConnected),
    ]
  }

  var text: String {
    let lines = rows.map { name, values in
      let percentiles = Percentiles(values)
      return name.padding(toLength: 50, withPad: " ", startingAt: 0)
        + String(
          format: "median %6.2f ms  5 %% %6.2f  95 %% %6.2f  of %d",
          percentiles.median,
          percentiles(0.05),
          percentiles(0.95),
          percentiles.count
        )
    }
    return (lines + ["stalls of jackd: \(stalls)"]).joined(separator: "\n")
  }
}
