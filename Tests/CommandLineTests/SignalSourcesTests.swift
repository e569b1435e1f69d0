import Glibc
import Testing

@testable import CommandLine

/// A signal is handled from the moment on at which it is asked for.
struct SignalSourcesTests {
  @Test(.timeLimit(.minutes(10)), arguments: [SIGUSR2, SIGURG, SIGIO])
  func aSignalThatComesAtOnceIsNotLost(number: CInt) async {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    let sources = SignalSources([number]) { continuation.yield() }
    kill(getpid(), number)
    for await _ in signals { break }
    sources.cancel()
  }
}
