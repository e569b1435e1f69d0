import ProgramRig
package import Foundation

/// What was measured, each call in milliseconds.
package struct SetupReport: Codable {
  package var date = Date()
  package var machine = Machine()
  /// Opening and starting the bare ALSA devices.
  package var bareALSA: [Double] = []
  /// From the fulfilment of an answer to didActivate.
  package var activation: [Double] = []
  /// From there to the first packet of captured voice, as the far side's kernel received it.
  package var firstSent: [Double] = []
  /// From there to the first sound of the far side at the loudspeaker.
  package var firstHeard: [Double] = []
  /// From the fulfilment of a resume to didActivate, while the devices still run.
  package var resumption: [Double] = []
  /// The session alone.
  package var sessionActivation: [Double] = []
  package var sessionDeactivation: [Double] = []
  /// Two programs on this machine: from the caller's command to the agreement of both sides.
  package var openToConnected: [Double] = []
  package var encryptedToConnected: [Double] = []
  /// From the answering side's activation, with a virtual headset, to the first sound there.
  package var openToHeard: [Double] = []
  package var encryptedToHeard: [Double] = []
  /// How often jackd was kept waiting for longer than a period.
  package var stalls = 0

  /// Nothing was measured yet.
  package init() {}

  /// The rows of the table.
  package var rows: [(String, [Double])] {
    [
      ("bare ALSA: open and start both directions", bareALSA),
      ("answer fulfilled to didActivate", activation),
      ("answer fulfilled to first captured frame sent", firstSent),
      ("answer fulfilled to first received frame heard", firstHeard),
      ("resume fulfilled to didActivate, devices running", resumption),
      ("session alone: activate", sessionActivation),
      ("session alone: deactivate", sessionDeactivation),
      ("INVITE to connected, two programs, encrypted", encryptedToConnected),
      ("  not encrypted", openToConnected),
      ("answered to first sound, two programs, encrypted", encryptedToHeard),
      ("  not encrypted", openToHeard),
    ]
  }

  /// The section of the results page.
  package var section: String {
    let lines = rows.map { name, values in
      let percentiles = Percentiles(values)
      return String(
        format: "| %@ | %.2f | %.2f | %.2f | %d |",
        name,
        percentiles.median,
        percentiles(0.05),
        percentiles(0.95),
        percentiles.count
      )
    }
    return """
      ## Until a call is heard

      `bench setup`, in milliseconds. jackd was kept waiting \(stalls) times.
      \(LatencyReport.ran(date, machine))

      | | median | 5 % | 95 % | of |
      |---|---|---|---|---|
      \(lines.joined(separator: "\n"))
      """
  }

  package var text: String {
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
