import RealTime

/// What the engine asks of its voice loop.
enum LoopCommand<
  Device: AudioDevice & ~Copyable,
  Transport: PacketTransport & ~Copyable
>: BitwiseCopyable, Sendable {
  /// Take over a stream.
  case attach(id: Int, LentObject<StreamBox<Transport>>)
  /// Say goodbye on this stream and let it go.
  case detach(id: Int)
  case mute(id: Int, isMuted: Bool)
  /// Mute the microphone itself.
  case muteInput(Bool)
  case setBitrate(id: Int, bitsPerSecond: Int)
  /// Send a key of the telephone's pad.
  case press(id: Int, code: UInt8)
  /// Exchange sides with those of a replacement.
  case replace(LentObject<DeviceReplacement<Device>>)
  /// Mix the others of this conference, and be mixed for them.
  case setConference(id: Int, conference: Int)
}
