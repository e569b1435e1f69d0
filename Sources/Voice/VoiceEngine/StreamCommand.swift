import RealTime

/// Command of another thread to the streams on a voice thread.
enum StreamCommand<Transport: PacketTransport & ~Copyable>: BitwiseCopyable, Sendable {
  /// Take over a stream.
  case attach(id: Int, LentObject<StreamBox<Transport>>)
  /// Release this stream, with an RTCP BYE if it is the last one of its source.
  case detach(id: Int, isLast: Bool)
  case mute(id: Int, isMuted: Bool)
  /// Send a DTMF digit.
  case press(id: Int, code: UInt8)
  /// Record this stream with a tap, or end its recording.
  case record(id: Int, LentObject<RecordingTap>)
  /// Move this stream to a conference, whose members hear each other.
  case setConference(id: Int, conference: Int)
}
