/// A request that a phone cannot fulfil.
///
/// A call that ends, or does not come up, has a `CallEnd`.
public enum PhoneError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The text is no SIP address.
  case noAddress(String)
  /// There is no account of this address.
  case unknownAccount(String)
  /// Too many calls are in progress.
  case tooManyCalls
  /// The call is not connected, as the request needs it to be.
  case notConnected
  /// The address of a call's far side is not known.
  case noCallAddress
  /// The echo line has stopped.
  case stopped
  /// The far side has asked for no transfer.
  case noTransferRequested
  /// The call has no words to compare: it is open, or the far side has no lasting identity.
  case noWords
  /// The far side is not remembered, so it cannot be marked as verified.
  case unknownPeer
  /// The file at a path cannot be written or used, for the given reason.
  case unusableFile(String, reason: String)
  /// The record of the far side at an address is damaged.
  case damagedPeer(String)
  /// The local network cannot be searched, for the given reason.
  case unsearchableNetwork(String)
  /// A call has no local address or no RTP port for its voice.
  case noMedia(String)
  /// The far side at an address has no codec in common with this side.
  case noCommonCodec(String)

  /// The reason in words.
  public var description: String {
    switch self {
    case .noAddress(let text): "\"\(text)\" is not a SIP address; write sip:NAME@HOST"
    case .unknownAccount(let address):
      "there is no account \(address); \"sidetone account list\" shows them"
    case .tooManyCalls: "too many calls are in progress"
    case .notConnected: "the call is not connected"
    case .noCallAddress: "the call has no address"
    case .stopped: "the line has stopped"
    case .noTransferRequested: "the far side has asked for no transfer"
    case .noWords: "there are no words to compare in this call"
    case .unknownPeer: "this far side is not remembered yet"
    case .unusableFile(let path, let reason): "\(path) cannot be used: \(reason)"
    case .damagedPeer(let address): "what is remembered of \(address) is damaged"
    case .unsearchableNetwork(let reason): "the local network cannot be searched: \(reason)"
    case .noMedia(let reason): reason
    case .noCommonCodec(let address): "no codec in common with \(address)"
    }
  }
}
