import MediaCore
package import UDPTransport

/// A way between the two sides, which may or may not work (RFC 8445 section 6.1.2).
///
/// Addresses of this machine's that share the call's port are one: the system chooses among them.
struct CandidatePair: Equatable, Sendable {
  /// How far the check of a pair has come.
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
  /// How the far side sees this side, once a check has succeeded.
  var localKind: ICECandidate.Kind
  /// True if the controlling far side has chosen it.
  var isNominated = false
  /// When the far side answered last.
  var answeredAt: MonotonicInstant?
  /// True from a request of the far side's on until a check has gone there for it.
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

  /// True until the far side has answered or will not.
  var isPending: Bool { state == .waiting || state == .inProgress }

  func isFor(_ base: ICEOutlet, _ address: SocketAddress) -> Bool {
    self.base == base && remote.address == address
  }
}

/// The way that the voice of a call takes.
package struct ICEPath: Equatable, Sendable {
  /// The far side's address.
  package let remote: SocketAddress
  /// By which way packets leave.
  package let base: ICEOutlet
  /// How the far side sees this one.
  package let localKind: ICECandidate.Kind
  /// How this side sees the far one.
  package let remoteKind: ICECandidate.Kind
}
