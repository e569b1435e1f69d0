import ProgramRig
package import Foundation

/// Setup times in milliseconds, one value for each call or activation.
package struct SetupReport: Codable {
  package var date = Date()
  package var machine = Machine()
  /// Time to open and start the bare ALSA devices.
  package var bareALSA: [Double] = []
  /// Time from the fulfilment of an answer to didActivate.
  package var activation: [Double] = []
  /// Time from the fulfilment of an answer to the first packet of captured voice, as the far side's
  /// kernel received it.
  package var firstSent: [Double] = []
  /// Time from the fulfilment of an answer to the first sound of the far side at the loudspeaker.
  package var firstHeard: [Double] = []
  /// Time from the fulfilment of a resume to didActivate, while the devices still run.
  package var resumption: [Double] = []
  /// Time to activate the audio session alone, without a call.
  package var sessionActivation: [Double] = []
  package var sessionDeactivation: [Double] = []
  /// Time from the caller's `calling` event to its `connected` event, for two programs on this
  /// machine without encryption.
  package var openToConnected: [Double] = []
  package var encryptedToConnected: [Double] = []
  /// Time from the answering side's activation to the first sound at its virtual headset, without
  /// encryption.
  package var openToHeard: [Double] = []
  package var encryptedToHeard: [Double] = []
  /// Number of times that jackd was kept waiting for longer than a period.
  package var stalls = 0

  /// Creates an empty report.
  package init() {}

  /// Rows of the table, each with its title and its times in milliseconds.
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
