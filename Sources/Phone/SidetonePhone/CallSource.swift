import SRTP
import VoiceStream

/// The RTP source that the streams of a call send as, one after the other.
struct CallSource {
  private var current: (source: SendingSource, session: SRTPSession?)?

  /// The same as before, unless its clock is another one (RFC 7160) or it has said goodbye.
  ///
  /// Under another session the next source begins with other keys, or with the same that the one
  /// before has used: no packet may have its number again (RFC 3711 section 9.1).
  mutating func source(
    for stream: StreamConfiguration,
    under session: SRTPSession?
  ) -> SendingSource {
    if let (source, former) = current, !source.isEnded, former === session,
      source.clockRate == stream.clockRate
    {
      return source
    }
    let other = SendingSource(clockRate: stream.clockRate)
    current = (other, session)
    return other
  }
}
