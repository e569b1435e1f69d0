import CLibre
import Glibc

/// A subscription to the number of new messages that wait for an account (RFC 3842).
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// the line owns it; libre holds an unretained pointer to it, which `clear` takes back.
@safe
final class MessageWatch {
  private let subscription = LibreSlot()
  private let report: (Int) -> Void
  private var reported = 0
  /// True once the server has answered that it does not support such subscriptions.
  private var isRefused = false

  /// Creates a watch that has not begun; `report` is called with each changed number of messages.
  init(_ report: @escaping (Int) -> Void) {
    self.report = report
  }

  deinit {
    clear()
  }

  @unsafe
  private static func from(_ context: UnsafeMutableRawPointer?) -> MessageWatch? {
    unsafe context.map { unsafe Unmanaged<MessageWatch>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Ends the subscription; the next one is attempted even if one was refused before.
  func clear() {
    isRefused = false
    subscription.clear()
  }

  /// Subscribes, unless there is a subscription or one was refused.
  func begin(_ line: AccountLine, over stack: SIPStack) {
    guard subscription.isEmpty, !isRefused else { return }
    let eventSocket = unsafe stack.eventSocket
    let (account, routes) = (line.account, line.routes)
    let credentials = unsafe line.makeCredentials()
    defer { _ = unsafe mem_deref(credentials) }
    var texts = unsafe routes.map { unsafe UnsafePointer(strdup($0)) }
    defer { unsafe texts.forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) } }
    _ = unsafe re_subscribe_messages(
      subscription.place,
      eventSocket,
      account.address,
      account.user,
      &texts,
      UInt32(routes.count),
      credentials,
      { unsafe MessageWatch.from($2)?.gotReport($0, $1) },
      { _, message, _, context in unsafe MessageWatch.from(context)?.gotClosed(message) },
      Unmanaged.passUnretained(self).toOpaque()
    )
  }

  private func gotReport(_ sip: OpaquePointer?, _ message: UnsafePointer<sip_msg>?) {
    guard let message = unsafe message else { return }
    _ = unsafe re_reply(sip, message, 200, "OK")
    note(unsafe Int(re_waiting_messages(message)))
  }

  /// Reports the number of waiting messages if it has changed; ignores a negative one.
  func note(_ waiting: Int) {
    guard waiting >= 0, waiting != reported else { return }
    reported = waiting
    report(waiting)
  }

  private func gotClosed(_ message: UnsafePointer<sip_msg>?) {
    isRefused = unsafe message.map { unsafe Self.isRefusal($0.pointee.scode) } ?? false
    // The next registration subscribes once more.
    subscription.clear()
  }

  /// True for a status by which a server says that it does not support such subscriptions.
  ///
  /// Other failures mean that it has forgotten the subscription, or cannot accept it now.
  static func isRefusal(_ status: UInt16) -> Bool {
    switch status {
    case ..<300, 408, 480, 481, 491, 500, 502...599: false
    default: true
    }
  }
}
