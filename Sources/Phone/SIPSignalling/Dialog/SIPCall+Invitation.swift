import CLibre
import Glibc

/// The arguments of an outgoing call's INVITE.
struct Invitation {
  let uri: String
  /// The URI in From; `name` is the display name there, nil for none.
  let from: String
  let name: String?
  /// The user part of this side's contact.
  let user: String
  let routes: [String]
  /// The dialog that this call replaces (RFC 3891); nil for none.
  let replaced: DialogName?
  /// The value of Referred-By (RFC 3892); nil for a call of the user's own.
  var referrer: String?
  /// The session timer to ask for.
  var interval = SessionInterval()
  /// Packet times in milliseconds to offer if the far side refuses the one that was offered.
  private(set) var packetTimes = [20, 10]

  var headers: String {
    interval.headers + (replaced.map { "Replaces: \($0)\r\n" } ?? "")
      + (referrer.map { "Referred-By: \($0)\r\n" } ?? "")
  }

  /// Returns the next packet time to offer, in milliseconds, after a refusal whose `Warning` is
  /// about the packet time (RFC 3261 section 20.43); nil after any other refusal, or if none is
  /// left.
  mutating func nextPacketTime(after status: Int, warning: String, offered: Int?) -> Int? {
    guard status == 488 || status == 606, warning.lowercased().contains("ptime") else { return nil }
    packetTimes.removeAll { $0 == offered }
    return packetTimes.isEmpty ? nil : packetTimes.removeFirst()
  }
}

extension SIPCall {
  /// Sends an INVITE with this side's offer; returns 0 or an errno.
  func invite(_ invitation: Invitation) -> CInt {
    guard let stack, let offer = unsafe description?.encode(asOffer: true) else { return ENOMEM }
    defer { _ = unsafe mem_deref(offer) }
    let credentials = unsafe makeCredentials()
    defer { _ = unsafe mem_deref(credentials) }
    var texts = unsafe invitation.routes.map { unsafe UnsafePointer(strdup($0)) }
    defer { unsafe texts.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
    self.invitation = invitation
    requests.isInviting = true
    // A message that is sent looks for its call by the session.
    var session: OpaquePointer?
    defer { unsafe self.session = session }
    return sending {
      unsafe re_invite(
        &session,
        stack.sessionSocket,
        invitation.uri,
        invitation.name,
        invitation.from,
        invitation.user,
        &texts,
        UInt32(invitation.routes.count),
        offer,
        credentials,
        { unsafe SIPCall.from($2)?.gotOffer($0, $1) ?? EPROTO },
        { unsafe SIPCall.from($1)?.gotAnswer($0) ?? EPROTO },
        { unsafe SIPCall.from($1)?.gotProgress($0) },
        { unsafe SIPCall.from($1)?.gotEstablished($0) },
        { unsafe SIPCall.from($2)?.gotInformation($0, $1) },
        { unsafe SIPCall.from($2)?.gotRefer($0, $1) },
        { unsafe SIPCall.from($2)?.gotClosed($0, $1) },
        invitation.headers,
        context
      )
    }
  }

  /// Repeats the INVITE with a packet time or session interval that the refusal calls for; false if
  /// there is none, so that the call is over.
  @unsafe
  func invitesAgain(after response: UnsafePointer<sip_msg>) -> Bool {
    guard !isEstablished, var again = invitation else { return false }
    let status = unsafe Int(response.pointee.scode)
    let warning = unsafe Self.header(SIP_HDR_WARNING, in: response)
    let offered = description?.offeredPacketTime
    if let next = again.nextPacketTime(after: status, warning: warning, offered: offered) {
      description?.setPacketTime(next)
    } else {
      let shortest = unsafe Self.header(SIP_HDR_MIN_SE, in: response)
      guard again.interval.retries(after: status, shortest: shortest) else { return false }
    }
    // The same call, as far as its name goes (RFC 4028 section 7.3).
    let numbers = unsafe PlannedNumbers(
      callID: String(response.pointee.callid),
      tag: String(response.pointee.from.tag),
      after: response.pointee.cseq.num
    )
    close()
    requests = DialogRequests()
    (earlyTags, earlyAnswers) = ([], [:])
    return planning(numbers) { invite(again) } == 0
  }

  /// Notes the `Reason` of a CANCEL (RFC 3326), by which a server says that another phone has
  /// answered or declined.
  func noteCancel(_ reason: String) {
    var isQuoted = false
    let plain = reason.filter { character in
      if character == "\"" { isQuoted.toggle() }
      return !isQuoted
    }
    // One for each protocol, in any order.
    for value in plain.split(separator: ",") {
      let fields = value.split(separator: ";").map { $0.filter { !$0.isWhitespace }.lowercased() }
      // "Non-selected user clearing", by servers that come from ISDN.
      if fields.first == "q.850", fields.contains("cause=26") { cancelReason = .answeredElsewhere }
      guard fields.first == "sip" else { continue }
      if fields.contains("cause=200") { cancelReason = .answeredElsewhere }
      if fields.contains("cause=603") || fields.contains("cause=600") {
        cancelReason = .declinedElsewhere
      }
    }
  }
}
