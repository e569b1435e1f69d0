package import NetworkAddress

/// A STUN Binding message (RFC 8489) with the attributes of connectivity checks (RFC 8445 section
/// 7).
package struct BindingMessage: Equatable, Sendable {
  /// The kind of a message.
  package enum Kind: Equatable, Sendable {
    case request
    case indication
    case success
    /// An error response with its code.
    case failure(Int)
  }

  /// The kind of the message.
  package var kind: Kind
  /// Twelve bytes that pair a response with its request.
  package var transaction: [UInt8]
  /// The receiver's user name fragment, a colon, the sender's.
  package var username: String?
  /// Priority of the peer-reflexive candidate that the receiver may learn from a check; nil without
  /// that attribute.
  package var priority: UInt32?
  /// True if the controlling side nominates the pair by this check (USE-CANDIDATE).
  package var nominates = false
  /// The role that the sender claims; nil without that attribute.
  package var role: ICERole?
  /// A random number that decides between two sides with the same role.
  package var tiebreaker: UInt64 = 0
  /// In a response, the address that the other side has received the request from.
  package var mapped: SocketAddress?
  /// True if its MESSAGE-INTEGRITY is valid with the password of the side that received the check.
  package var isAuthentic = false

  /// A message without attributes.
  package init(_ kind: Kind, transaction: [UInt8]) {
    self.kind = kind
    self.transaction = transaction
  }
}

/// Role of an agent: the controlling one nominates the pair (RFC 8445 section 6.1.1).
package enum ICERole: Equatable, Sendable {
  case controlling
  case controlled
}
