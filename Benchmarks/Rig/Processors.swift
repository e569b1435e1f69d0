import CRawVoice
import Foundation
import ProgramRig

/// Which processors the calling thread may use, and with it the threads and programs that it starts
/// from then on.
package enum Processors {
  /// Does `body` on one processor, after which all are allowed again, or on all of them.
  ///
  /// A virtual machine may be slow to interrupt a processor that computes: on the one that the
  /// published figures come from, a thread that is woken by the other processor waits for 2.8 ms in
  /// the mean. On one processor, a real-time thread runs at once whatever else wants to.
  package static func keeping(toOne isOne: Bool, _ body: () throws -> Void) throws {
    guard isOne else { return try body() }
    guard raw_thread_keep_to_one_processor() == 0 else {
      throw RigError("the kernel refused a processor")
    }
    defer { _ = raw_thread_use_all_processors() }
    try body()
  }

  /// For how long the host of this virtual machine has run something else while a processor had
  /// work, in seconds since the start, of all processors together (steal, `proc_stat(5)`).
  ///
  /// Nil if the kernel does not say.
  static var stolenSeconds: Double? {
    let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
    let fields = text.prefix { $0 != "\n" }.split(separator: " ")
    guard fields.count > 8, let ticks = Double(fields[8]) else { return nil }
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
