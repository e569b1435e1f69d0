import CLibre

/// A transfer that one side of a call asks the other for (RFC 5589).
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the call owns it; libre holds an unretained pointer to it, which `clear` takes back.
@safe
final class SIPTransfer {
  /// Called with the progress of a transfer that this side asked for: the status of the new call,
  /// 200 or more once it is final.
  private let report: (Int) -> Void
  private let subscription = LibreSlot()
  private let notifier = LibreSlot()
  private var isOver = false
  /// True while the far side awaits the outcome of the call that it asked for.
  private(set) var isPending = false

  init(_ report: @escaping (Int) -> Void) {
    self.report = report
  }

  deinit {
    clear()
  }

  private var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  @unsafe
  private static func from(_ context: UnsafeMutableRawPointer?) -> SIPTransfer? {
    unsafe context.map { unsafe Unmanaged<SIPTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  func clear() {
    (isOver, isPending) = (true, false)
    subscription.clear()
    notifier.clear()
  }

  // MARK: The side that transfers

  /// Sends a REFER in a session's dialog; returns 0 or an errno.
  @unsafe
  func refer(
    over stack: SIPStack,
    _ session: OpaquePointer?,
    to target: TransferTarget,
    by referrer: String,
    user: String,
    _ credentials: UnsafeMutablePointer<re_credentials>?
  ) -> CInt {
    // What is left of one before.
    subscription.clear()
    isOver = false
    let eventSocket = unsafe stack.eventSocket
    return unsafe re_refer(
      subscription.place,
      eventSocket,
      session,
      user,
      credentials,
      target.referTo,
      referrer,
      { unsafe SIPTransfer.from($2)?.gotNotification($0, $1) },
      { _, message, _, context in unsafe SIPTransfer.from(context)?.gotClosed(message) },
      context
    )
  }

  private func gotNotification(_ sip: OpaquePointer?, _ message: UnsafePointer<sip_msg>?) {
    guard let message = unsafe message else { return }
    _ = unsafe re_reply(sip, message, 200, "OK")
    conclude(Int(unsafe re_fragment_status(message)))
  }

  // The far side refuses, or has nothing more to say.
  private func gotClosed(_ message: UnsafePointer<sip_msg>?) {
    let status = unsafe message.map { unsafe Int($0.pointee.scode) } ?? 408
    conclude(status >= 300 ? status : 408)
  }

  private func conclude(_ status: Int) {
    guard status > 0, !isOver else { return }
    isOver = status >= 200
    report(status)
  }

  // MARK: The side that is transferred

  /// Accepts a REFER; true if the far side will be sent reports.
  @unsafe
  func accept(
    _ message: UnsafePointer<sip_msg>,
    over stack: SIPStack,
    _ session: OpaquePointer?,
    user: String,
    _ credentials: UnsafeMutablePointer<re_credentials>?
  ) -> Bool {
    notifier.clear()
    let eventSocket = unsafe stack.eventSocket
    let code = unsafe re_accept_refer(
      notifier.place,
      eventSocket,
      message,
      session,
      user,
      credentials,
      { _, _, _ in },
      context
    )
    guard code == 0 else { return false }
    isPending = true
    tell(100, "Trying")
    return true
  }

  /// Reports the status of the new call to the far side that asked for it.
  func tell(_ status: Int, _ reason: String) {
    guard isPending, !notifier.isEmpty else { return }
    isPending = status < 200
    _ = unsafe re_report_refer(notifier.place.pointee, UInt16(clamping: status), reason)
  }
}
