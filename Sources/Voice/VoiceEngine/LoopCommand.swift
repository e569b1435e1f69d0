/// What the engine asks of its voice loop.
enum LoopCommand: BitwiseCopyable, Sendable {
  /// Take over the stream box at this address.
  case attach(id: Int, address: Int)
  /// Say goodbye on this stream and let it go.
  case detach(id: Int)
  case mute(id: Int, isMuted: Bool)
  /// Mute the microphone itself.
  case muteInput(Bool)
  case setBitrate(id: Int, bitsPerSecond: Int)
  /// Send a key of the telephone's pad.
  case press(id: Int, code: UInt8)
  /// Exchange sides with those of the replacement at this address.
  case replace(address: Int)
  /// Hear the others of this conference, and be heard by them.
  case setConference(id: Int, conference: Int)
}
