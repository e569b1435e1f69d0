import CLibre
import Foundation
import MediaCore
import RealTime
import NetworkAddress

/// A far side's response to an OPTIONS request outside of calls.
package struct ProbeAnswer: Equatable, Sendable {
  /// The response's status (RFC 3261 section 21).
  package let status: Int
  /// Time from the request to the response, in nanoseconds.
  package let roundTripNanoseconds: Int64
  /// True if a router on the way has changed this side's address (RFC 3581).
  package let isTranslated: Bool
}

/// One OPTIONS request outside of calls.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too.
@safe
private final class PathProbe {
  private let request = LibreSlot()
  private let timer = LoopTimer()
  private let sentAt = MonotonicClock.now()
  private var own = sa()
  private var continuation: CheckedContinuation<ProbeAnswer?, Never>?

  init(_ continuation: CheckedContinuation<ProbeAnswer?, Never>) {
    self.continuation = continuation
  }

  /// Sends the request, and resumes the continuation with the response, or with nil after
  /// `patience` nanoseconds without one.
  ///
  /// libre and the timer hold the probe until then.
  func send(to uri: String, from address: String, over stack: SIPStack, within patience: Int64) {
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    let code = unsafe re_probe(
      request.place,
      stack.sip,
      uri,
      address,
      UUID().uuidString,
      { _, own, _, _, context in
        guard let context = unsafe context, let own = unsafe own else { return 0 }
        let probe = unsafe Unmanaged<PathProbe>.fromOpaque(context).takeUnretainedValue()
        unsafe probe.own = own.pointee
        return 0
      },
      { code, message, context in
        guard let context = unsafe context else { return }
        let probe = unsafe Unmanaged<PathProbe>.fromOpaque(context)
        if unsafe probe.takeUnretainedValue().answered(code, message) { unsafe probe.release() }
      },
      context
    )
    guard code != 0 else {
      // A late answer finds the probe still there, and nothing to conclude.
      return timer.start(for: sentAt.advanced(byNanoseconds: patience)) { self.conclude(nil) }
    }
    conclude(nil)
    unsafe Unmanaged<PathProbe>.fromOpaque(context).release()
  }

  // True if nothing more will come.
  private func answered(_ code: CInt, _ message: UnsafePointer<sip_msg>?) -> Bool {
    guard code == 0, let message = unsafe message else {
      conclude(nil)
      return true
    }
    let status = unsafe Int(message.pointee.scode)
    guard status >= 200 else { return false }
    conclude(
      ProbeAnswer(
        status: status,
        roundTripNanoseconds: MonotonicClock.now().nanoseconds(since: sentAt),
        isTranslated: unsafe re_is_translated(message, &own)
      )
    )
    return true
  }

  private func conclude(_ answer: ProbeAnswer?) {
    timer.cancel()
    continuation?.resume(returning: answer)
    continuation = nil
  }
}

extension UserAgent {
  /// Sends a far side an OPTIONS request outside of calls, as a sign-of-life check (RFC 3261
  /// section 11).
  ///
  /// - Parameters:
  ///   - uri: the URI of the far side, with a numeric host.
  ///   - host: the address of this machine to send from.
  ///   - patience: the time to wait, in nanoseconds; 32 s at most (RFC 3261, timer F).
  /// - Returns: the response; nil if there is none in time, or at once if the far side's host
  ///   cannot be reached.
  package func probe(
    _ uri: String,
    from host: String,
    within patience: Int64
  ) async -> ProbeAnswer? {
    guard let stack = stack(at: host) else { return nil }
    let own = "sip:\(configuration.user)@\(SocketAddress.literal(host))"
    return await withCheckedContinuation { continuation in
      PathProbe(continuation).send(to: uri, from: own, over: stack, within: patience)
    }
  }
}
