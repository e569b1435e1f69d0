import CLinux
import Glibc

/// Detects changes of this machine's addresses and routes, and its return from sleep.
///
/// **Thread safety:** one thread at a time.
package final class NetworkWatch {
  /// A descriptor that becomes readable when something has changed; negative if the kernel reports
  /// no changes.
  package let fileDescriptor: CInt
  private var slept: Int64

  /// Longest sleep that servers and routers would not notice, in nanoseconds.
  private static let noticedNanoseconds: Int64 = 5_000_000_000

  /// A watch that begins now.
  package init() {
    fileDescriptor = network_watch_open()
    slept = realtime_slept_nanoseconds()
  }

  deinit {
    if fileDescriptor >= 0 { close(fileDescriptor) }
  }

  /// Discards the notifications received so far; the caller reads addresses and routes again.
  package func drain() {
    var bytes = [UInt8](repeating: 0, count: 8_192)
    while unsafe recv(fileDescriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT)) > 0 {}
  }

  /// True once after the machine has slept for more than five seconds.
  package func takeSleep() -> Bool { noteSleep(realtime_slept_nanoseconds()) }

  func noteSleep(_ total: Int64) -> Bool {
    defer { slept = total }
    return total - slept > Self.noticedNanoseconds
  }
}
