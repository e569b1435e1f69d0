import ArgumentParser

struct LoopbackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "loopback",
    abstract: "A call to oneself over UDP loopback; measures mouth-to-ear latency."
  )

  func run() async throws {}
}
