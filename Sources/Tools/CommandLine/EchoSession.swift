import Dispatch
import Foundation
import Histogram
import Localization
import SidetonePhone

/// Session of `listen --answer --echo`: answers every caller until interrupted, and prints the
/// lateness of the voice threads each second.
struct EchoSession {
  let configuration: PhoneConfiguration
  let printer: EventPrinter

  private enum Input: Sendable {
    case line(EchoLine.Event)
    case tick
    case interrupt
  }

  func run() async throws {
    let line = EchoLine(configuration)
    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    let signals = SignalSources(SignalSources.interrupts) { continuation.yield(.interrupt) }
    defer { signals.cancel() }
    do {
      printer.print(.registered(addresses: try await line.start()))
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
    let tasks = [
      Task { for await event in line.events { continuation.yield(.line(event)) } },
      Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(1))
          continuation.yield(.tick)
        }
      },
    ]
    defer { for task in tasks { task.cancel() } }
    var load = EchoLoad()
    for await input in inputs {
      switch input {
      case .line(.answered(_, let from)): printer.printEcho("answered", ["from": .text(from)])
      case .line(.ended(_, let end)):
        printer.printEcho(
          "ended",
          ["reason": .text("\(end)")],
          forPrograms: EventPrinter.fields(of: end)
        )
      case .line(.registration(let account, let state)): printer.print(state.event(of: account))
      case .line(.failed(let reason)): printer.print(.error(reason))
      case .tick:
        load.add(await line.takeLateness(), calls: await line.callCount)
        printer.printEcho("load", load.fields)
      case .interrupt:
        return await line.stop()
      }
    }
  }
}

/// Lateness of the voice threads since the number of calls last changed.
private struct EchoLoad {
  private var calls = 0
  private var lateness = Histogram<UInt64>(
    highestTrackableValue: 60_000_000_000,
    numberOfSignificantValueDigits: .three
  )

  mutating func add(_ nanoseconds: [Int64], calls: Int) {
    if calls != self.calls {
      lateness.reset()
      self.calls = calls
      return
    }
    for value in nanoseconds { lateness.record(UInt64(clamping: value)) }
  }

  var fields: [String: JSONValue] {
    func milliseconds(_ percentile: Double) -> JSONValue {
      .number((Double(lateness.valueAtPercentile(percentile)) / 1e4).rounded() / 100)
    }
    return [
      "calls": .count(calls), "periods": .count(lateness.totalCount),
      "lateMedianMs": milliseconds(50),
      "late99Ms": milliseconds(99), "late999Ms": milliseconds(99.9),
    ]
  }
}
