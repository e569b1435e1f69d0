/// Sound server of the two headsets of a benchmark.
package protocol SoundServer: AnyObject {
  /// Environment in which programs find the headsets `headsetA` and `headsetB`, as ALSA's devices.
  var environment: [String: String] { get }

  /// Times for which the machine kept the server waiting, in milliseconds, as far as it says.
  var stalls: [Double] { get }

  /// Lets this process find the server and its devices as well.
  func exportEnvironment()

  /// Connects the ports of the rig, which is a client named `rig`, to the headsets.
  func connectRig() throws

  /// Ends the server.
  func stop()
}

extension JackServer: SoundServer {
  /// Does nothing: ALSA's plugin connects each device as it is opened.
  package func connectRig() {}
}
