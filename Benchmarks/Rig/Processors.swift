import CRawVoice
import Foundation
import ProgramRig

/// Set of processors for the calling thread, inherited by the threads and programs that it starts
/// from then on.
package enum Processors {
  /// Runs `body` on one processor if `isOne`, and allows all processors again afterwards; otherwise
  /// runs it on all of them.
  ///
  /// A virtual machine may be slow to interrupt a busy processor: on the one that the published
  /// figures come from, a thread woken by the other processor waits for 2.8 ms on average. On one
  /// processor, a real-time thread runs at once whatever else is ready to run.
  package static func keeping(toOne isOne: Bool, _ body: () throws -> Void) throws {
    guard isOne else { return try body() }
    guard raw_thread_keep_to_one_processor() == 0 else {
      throw RigError("the kernel refused a processor")
    }
    defer { _ = raw_thread_use_all_processors() }
    try body()
  }

  /// Time that the host of this virtual machine took while a processor had work (steal,
  /// `proc_stat(5)`), in seconds since the start, of all processors together.
  ///
  /// Nil if the kernel does not say.
  static var stolenSeconds: Double? {
    let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
    let fields = text.prefix { $0 != "\n" }.split(separator: " ")
    guard fields.count > 8, let ticks = Double(fields[8]) else { return nil }
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
