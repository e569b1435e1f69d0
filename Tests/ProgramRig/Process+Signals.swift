package import Foundation

extension Process {
  /// Starts it without the signals that this thread blocks, which it would inherit: a polite
  /// request to end would never reach it.
  package func runWithoutBlockedSignals() throws {
    var none = sigset_t()
    var former = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, &former)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &former, nil) }
    try run()
  }
}
