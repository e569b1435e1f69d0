/// A message between two machines, as far as calls depend on it.
///
/// The descriptions in it are real ones, written and read by the code that calls use.
struct SIPMessage {
  enum Method: Int {
    case invite, acknowledge, cancel, bye, options, update
  }

  /// Identity of a transaction: its dialog, the side that sent the request, number and method.
  struct Transaction: Hashable {
    let callID: Int
    let callerTag: Int
    let sequence: Int
    let method: Method
  }

  let sender: Int
  let receiver: Int
  let callID: Int
  let method: Method
  let sequence: Int
  /// Tag of the side that sent the request.
  let requesterTag: Int
  /// Tag of the other side; 0 before it has one.
  var responderTag: Int
  /// The status of a response; nil in a request.
  var status: Int?
  var body: [UInt8]?
  /// The interval of a session timer, in seconds; nil without one.
  var sessionSeconds: Int?

  var transaction: Transaction {
    Transaction(callID: callID, callerTag: requesterTag, sequence: sequence, method: method)
  }

  func response(
    _ status: Int,
    tag: Int,
    body: [UInt8]? = nil,
    sessionSeconds: Int? = nil
  ) -> SIPMessage {
    SIPMessage(
      sender: receiver,
      receiver: sender,
      callID: callID,
      method: method,
      sequence: sequence,
      requesterTag: requesterTag,
      responderTag: tag,
      status: status,
      body: body,
      sessionSeconds: sessionSeconds
    )
  }
}

/// A datagram of a call's voice.
struct VoiceDatagram {
  let sender: Int
  let senderPort: UInt16
  let receiver: Int
  let receiverPort: UInt16
  let bytes: [UInt8]
}
