import RealTime

/// Change of the device side for the voice thread.
enum DeviceChange<Device: AudioDevice & ~Copyable>: BitwiseCopyable, Sendable {
  /// Exchange sides of the device.
  case sides(LentObject<DeviceReplacement<Device>>)
  /// Exchange the microphone's filters.
  case filter(LentObject<FilterReplacement>)
}
