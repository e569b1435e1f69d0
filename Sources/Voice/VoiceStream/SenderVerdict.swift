/// Decision about a datagram, by the host that it came from.
package enum SenderVerdict: Equatable, Sendable, BitwiseCopyable {
  /// Accept it.
  case accept
  /// Accept it, and admit its host beside the agreed one.
  case acceptAndAdmit
  /// Accept it, and send to its source from now on: the far side has moved.
  case acceptAndFollow
  /// Accept it, and admit only the agreed host from now on.
  case acceptAgreedAlone
  /// Drop it.
  case refuse
}
