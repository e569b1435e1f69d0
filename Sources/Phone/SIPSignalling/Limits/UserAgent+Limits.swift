import CLibre
import MediaCore
import RealTime

/// Limits on requests from strangers.
extension UserAgent {
  /// Returns the numeric host that a message came from.
  @unsafe
  static func host(of message: UnsafePointer<sip_msg>) -> String {
    var text = [CChar](repeating: 0, count: 64)
    var address = unsafe message.pointee.src
    var port: UInt16 = 0
    _ = unsafe re_address_text(&address, &text, text.count, &port)
    return String(cStringBytes: text)
  }

  /// Returns true if a call may ring, and refuses it otherwise.
  @unsafe
  func admits(
    _ message: UnsafePointer<sip_msg>,
    from host: String,
    isByServer: Bool,
    on stack: SIPStack
  ) -> Bool {
    let ringing = calls.values.filter { $0.isIncoming && !$0.isAnswered }
    let refusal: CallAdmission.Refusal? = admission.refusal(
      ofCallFrom: host,
      isByServer: isByServer,
      whileRinging: CallAdmission.Ringing(ringing.map(\.sourceHost), from: host),
      at: MonotonicClock.now()
    )
    switch refusal {
    case nil:
      return true
    case .busy:
      unsafe stack.refuse(message, 486, "Busy Here")
    case .overloaded(let seconds):
      let header = "Retry-After: \(seconds)\r\n"
      unsafe stack.refuse(message, 503, "Service Unavailable", headers: header)
    }
    return false
  }

  /// Remembers that there is a call with a host, or was one before this agent started, so that a
  /// flood of strangers does not keep it out.
  ///
  /// - Parameter host: its numeric address.
  package func noteCall(with host: String) {
    admission.noteCall(with: host, at: MonotonicClock.now())
    noteConnections(with: host)
  }

  /// Returns true, after counting the request, if a request outside of calls may be answered.
  func answers(isByServer: Bool) -> Bool {
    admission.answers(isByServer: isByServer, at: MonotonicClock.now())
  }
}
