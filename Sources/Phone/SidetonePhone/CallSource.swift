import SRTP
import VoiceStream

/// The RTP source that the streams of a call send as, one after the other.
struct CallSource {
  private var current: (source: SendingSource, session: SRTPSession?)?

  /// Returns the former source, or a new one if the clock rate (RFC 7160) or the session is another
  /// one, or if the former source has sent BYE.
  ///
  /// Another session has other keys, or those that a former source has used already, under which no
  /// packet number may be used again (RFC 3711 section 9.1).
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
