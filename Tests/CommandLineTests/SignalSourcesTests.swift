import Glibc
import Testing

@testable import CommandLine

/// A signal is handled from the moment on at which it is asked for.
struct SignalSourcesTests {
  @Test(.timeLimit(.minutes(1))) func aSignalThatComesAtOnceIsNotLost() async {
    for _ in 0..<50 {
      let (signals, continuation) = AsyncStream<Void>.makeStream()
      let sources = SignalSources([SIGUSR2]) { continuation.yield() }
      kill(getpid(), SIGUSR2)
      for await _ in signals { break }
      sources.cancel()
    }
  }
}
