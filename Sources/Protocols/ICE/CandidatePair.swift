import MediaCore
package import NetworkAddress

/// A candidate pair: a base of this side and a candidate of the far side (RFC 8445 section 6.1.2).
///
/// All host candidates of this side share one base, the call's port: the system chooses the source
/// address.
struct CandidatePair: Equatable, Sendable {
  /// The progress of a pair's check.
  enum State: Equatable, Sendable {
    case waiting
    case inProgress
    case succeeded
    case failed
  }

  let base: ICEOutlet
  let remote: ICECandidate
  let priority: UInt64
  var state = State.waiting
  /// Kind of this side's address, as the far side sees it once a check has succeeded.
  var localKind: ICECandidate.Kind
  /// True if the controlling side, this one or the far one, has nominated the pair.
  var isNominated = false
  /// Time of the far side's last response on this pair; nil before the first.
  var answeredAt: MonotonicInstant?
  /// True after a request from the far side, until a check has been sent there for it.
  var isOwedCheck = false

  init(_ base: ICEOutlet, to remote: ICECandidate, localPriority: UInt32, _ role: ICERole) {
    self.base = base
    self.remote = remote
    localKind = base == .relay ? .relayed : .host
    let (ours, theirs) = (UInt64(localPriority), UInt64(remote.priority))
    let (controlling, controlled) = role == .controlling ? (ours, theirs) : (theirs, ours)
    // RFC 8445 section 6.1.2.3.
    priority =
      min(controlling, controlled) << 32 &+ 2 &* max(controlling, controlled)
      &+ (controlling > controlled ? 1 : 0)
  }

  /// True until the check has succeeded or failed.
  var isPending: Bool { state == .waiting || state == .inProgress }

  func isFor(_ base: ICEOutlet, _ address: SocketAddress) -> Bool {
    self.base == base && remote.address == address
  }
}

/// The path of a call's voice.
package struct ICEPath: Equatable, Sendable {
  /// The far side's address.
  package let remote: SocketAddress
  /// The outlet that packets leave by.
  package let base: ICEOutlet
  /// Kind of this side's address, as the far side sees it.
  package let localKind: ICECandidate.Kind
  /// Kind of the far side's address, as this side sees it.
  package let remoteKind: ICECandidate.Kind
}
