import RealTime

/// What other threads ask of the streams on a voice thread.
enum StreamCommand<Transport: PacketTransport & ~Copyable>: BitwiseCopyable, Sendable {
  /// Take over a stream.
  case attach(id: Int, LentObject<StreamBox<Transport>>)
  /// Let this stream go, with a goodbye if no other one of its source will follow.
  case detach(id: Int, isLast: Bool)
  case mute(id: Int, isMuted: Bool)
  /// Send a DTMF digit.
  case press(id: Int, code: UInt8)
  /// Let a recording take this stream's sound, or none any more.
  case record(id: Int, LentObject<RecordingTap>)
  /// Mix the others of this conference, and be mixed for them.
  case setConference(id: Int, conference: Int)
}
