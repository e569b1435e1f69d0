extension AVAudioSession {
  /// Kind of a port's device.
  public struct Port: RawRepresentable, Hashable, Sendable {
    /// Apple's constant.
    public let rawValue: String

    /// Creates a kind from Apple's constant.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The machine's loudspeaker; also any loudspeaker of an unknown kind.
    public static let builtInSpeaker = Port(rawValue: "Speaker")
    /// A telephone's earpiece.
    public static let builtInReceiver = Port(rawValue: "Receiver")
    /// The machine's microphone; also any microphone of an unknown kind.
    public static let builtInMic = Port(rawValue: "MicrophoneBuiltIn")
    /// Headphones in a socket.
    public static let headphones = Port(rawValue: "Headphones")
    /// A headset's microphone in a socket.
    public static let headsetMic = Port(rawValue: "MicrophoneWired")
    /// A Bluetooth headset.
    public static let bluetoothHFP = Port(rawValue: "BluetoothHFP")
    /// A Bluetooth loudspeaker.
    public static let bluetoothA2DP = Port(rawValue: "BluetoothA2DPOutput")
    /// A Bluetooth LE device.
    public static let bluetoothLE = Port(rawValue: "BluetoothLE")
    /// A line input.
    public static let lineIn = Port(rawValue: "LineIn")
    /// A line output.
    public static let lineOut = Port(rawValue: "LineOut")
    /// A screen's loudspeaker.
    public static let HDMI = Port(rawValue: "HDMIOutput")
    /// A network loudspeaker.
    public static let airPlay = Port(rawValue: "AirPlay")
    /// A USB device.
    public static let usbAudio = Port(rawValue: "USBAudio")
    /// A virtual device, provided by a program.
    public static let virtual = Port(rawValue: "Virtual")
    /// A card in the machine.
    public static let PCI = Port(rawValue: "PCI")
    /// A FireWire device.
    public static let fireWire = Port(rawValue: "FireWire")
    /// A screen's loudspeaker, by DisplayPort.
    public static let displayPort = Port(rawValue: "DisplayPort")
    /// A device by Audio Video Bridging.
    public static let AVB = Port(rawValue: "AVB")
    /// A Thunderbolt device.
    public static let thunderbolt = Port(rawValue: "Thunderbolt")
    /// The microphone of another device of the user's.
    public static let continuityMicrophone = Port(rawValue: "ContinuityMicrophone")
    /// A car.
    public static let carAudio = Port(rawValue: "CarAudio")
  }
}
