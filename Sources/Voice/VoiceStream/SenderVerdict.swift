/// What to do with a datagram, by the host that it came from.
package enum SenderVerdict: Equatable, Sendable, BitwiseCopyable {
  /// Take it in.
  case accept
  /// Take it in, and admit its host beside the agreed one.
  case acceptAndAdmit
  /// Take it in, and send to where it came from: the far side has moved.
  case acceptAndFollow
  /// Take it in, and admit no host but the agreed one any more.
  case acceptAgreedAlone
  /// Drop it.
  case refuse
}
