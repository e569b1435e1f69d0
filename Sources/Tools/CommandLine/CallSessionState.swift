import CallKit
import Foundation
import Logging
import SidetonePhone
import VoiceEngine

/// The calls of a session as its user sees them, and what keys do to them.
struct CallSessionState {
  struct Line {
    let call: UUID
    var isRinging = false
    var isConnected = false
    var isHeld = false
    var isMuted = false
  }

  let terminal: Terminal
  let printer: EventPrinter
  let phone: Phone
  let logger: Logger
  private(set) var lines: [Line] = []
  private(set) var interrupts = 0
  private(set) var failure: String?
  private(set) var lastReason = ""
  private(set) var isAudioActive = false
  /// True if the last call ended well, false if not, nil before the first has ended.
  private(set) var outcome: Bool?
  private var statistics: CallStatistics?

  init(terminal: Terminal, printer: EventPrinter, phone: Phone, logger: Logger) {
    self.terminal = terminal
    self.printer = printer
    self.phone = phone
    self.logger = logger
  }

  private var active: Line? { lines.first { !$0.isHeld && !$0.isRinging } }
  private var held: Line? { lines.last { $0.isHeld } }
  private var ringing: Line? { lines.first { $0.isRinging } }

  private mutating func change(_ call: UUID, _ body: (inout Line) -> Void) {
    guard let index = lines.firstIndex(where: { $0.call == call }) else { return }
    body(&lines[index])
  }

  mutating func handle(
    _ input: CallSession.Input,
    answersAtOnce: Bool,
    duration: Double?,
    _ continuation: AsyncStream<CallSession.Input>.Continuation
  ) async {
    switch input {
    case .phone(let event):
      logger.debug("\(event)")
      printer.print(event)
      note(event)
      // A second caller never interrupts a call by himself.
      if case .incoming(let call, _) = event, answersAtOnce, lines.count == 1 {
        await wish { try await phone.answer(call) }
      }
      if case .connected(let call, _) = event, let duration {
        Task {
          try? await Task.sleep(for: .seconds(duration))
          continuation.yield(.timeIsUp(call))
        }
      }
    case .key(let key):
      await press(Character(UnicodeScalar(key)))
    case .tick:
      guard active?.isConnected == true, let statistics = await phone.statistics() else { return }
      self.statistics = statistics
      logger.trace("\(statistics)")
      printer.print(statistics)
    case .timeIsUp(let call):
      if lines.contains(where: { $0.call == call }) { await wish { try await phone.end(call) } }
    case .callFailed(let reason):
      failure = reason
      interrupts = 2
    case .open(let address):
      // Names take time to look up, and keys must not wait for that.
      Task { [phone] in
        do {
          try await phone.call(address)
        } catch {
          continuation.yield(.phone(.error("\(error)")))
        }
      }
    case .interrupt:
      // The first hangs up, a second one does not wait for that.
      interrupts += 1
      for line in lines { await wish { try await phone.end(line.call) } }
    }
  }

  // Asks for what the user wishes. A call that has just ended needs no word: its event says so.
  private func wish(_ body: () async throws -> Void) async {
    do {
      try await body()
    } catch let error as CXErrorCodeRequestTransactionError {
      guard error.code != .unknownCallUUID else { return }
      printer.print(.error("that is not possible for this call now (\(error.code))"))
    } catch {
      printer.print(.error("\(error)"))
    }
  }

  private mutating func note(_ event: PhoneEvent) {
    switch event {
    case .incoming(let call, _):
      lines.append(Line(call: call, isRinging: true))
    case .calling(let call, _):
      lines.append(Line(call: call))
    case .connected(let call, _):
      change(call) {
        $0.isRinging = false
        $0.isConnected = true
      }
    case .held(let call):
      change(call) { $0.isHeld = true }
    case .resumed(let call):
      change(call) { $0.isHeld = false }
    case .ended(let call, let reason, let isClean):
      if let statistics, statistics.call == call {
        printer.printSummary(statistics)
        self.statistics = nil
      }
      lines.removeAll { $0.call == call }
      lastReason = reason
      outcome = isClean
    case .audioActivated:
      isAudioActive = true
    case .audioDeactivated:
      isAudioActive = false
    case .registered, .ringing, .error, .heldByFarSide, .resumedByFarSide, .joined, .separated,
      .pressed, .routeChanged, .mediaServicesLost, .mediaServicesReset:
      break
    }
  }

  private mutating func press(_ key: Character) async {
    switch key {
    case "a":
      if let ringing { await wish { try await phone.answer(ringing.call) } }
    case "e":
      if let ringing { await wish { try await phone.endAndAnswer(ringing.call) } }
    case "d":
      if let ringing { await wish { try await phone.end(ringing.call) } }
    case "m":
      guard let active, active.isConnected else { return }
      change(active.call) { $0.isMuted.toggle() }
      await wish { try await phone.setMuted(active.call, active.isMuted ? .unmuted : .muted) }
    case "o", "s":
      // Resuming one holds the other: with two calls both keys swap.
      if let held {
        await wish { try await phone.setHeld(held.call, false) }
      } else if let active, active.isConnected {
        await wish { try await phone.setHeld(active.call, true) }
      }
    case "c":
      if let active, let held { await wish { try await phone.join(held.call, with: active.call) } }
    case "h", "q":
      if let line = active ?? held ?? ringing { await wish { try await phone.end(line.call) } }
    case "0"..."9", "*", "#":
      guard let active, active.isConnected else { return }
      await wish { try await phone.press(active.call, String(key)) }
    default:
      break
    }
  }
}
