extension AVAudioSession {
  /// Refinements of a category.
  public struct CategoryOptions: OptionSet, Hashable, Sendable {
    /// Apple's bits.
    public let rawValue: UInt

    /// Creates options from Apple's bits.
    public init(rawValue: UInt) {
      self.rawValue = rawValue
    }

    /// Other programs' sound continues.
    public static let mixWithOthers = CategoryOptions(rawValue: 1)
    /// Other programs' sound becomes quieter; implies mixing.
    public static let duckOthers = CategoryOptions(rawValue: 2)
    /// Bluetooth headsets may be used.
    public static let allowBluetooth = CategoryOptions(rawValue: 4)
    /// Bluetooth headsets may be used: the newer name.
    public static let allowBluetoothHFP = CategoryOptions(rawValue: 4)
    /// The loudspeaker rather than the earpiece.
    public static let defaultToSpeaker = CategoryOptions(rawValue: 8)
    /// Other programs' speech is interrupted; implies mixing.
    public static let interruptSpokenAudioAndMixWithOthers = CategoryOptions(rawValue: 17)
    /// Bluetooth loudspeakers may be used.
    public static let allowBluetoothA2DP = CategoryOptions(rawValue: 32)
    /// Network loudspeakers may be used.
    public static let allowAirPlay = CategoryOptions(rawValue: 64)
    /// A muted microphone does not interrupt.
    public static let overrideMutedMicrophoneInterruption = CategoryOptions(rawValue: 128)
    /// Bluetooth headsets that record in high quality may be used.
    public static let bluetoothHighQualityRecording = CategoryOptions(rawValue: 1 << 19)
  }
}
