import ALSAAudio
import AudioRouting
import AVFAudio
import ArgumentParser
import CallKit
import CallScreen
import CallStore
import Foundation
import Logging
import SidetonePhone
import VoiceEngine

/// What `listen` and `call` have in common: a phone, keys, signals, a live line and an exit status.
struct CallSession {
  private let configuration: PhoneConfiguration
  private let named: [RememberedSide: KnownDevice]
  private let duration: Double?
  private let answersAtOnce: Bool
  private let isJSON: Bool
  private let readsKeys: Bool
  private let ringer: String
  private let logger: Logger

  enum Input: Sendable {
    case phone(PhoneEvent)
    case key(UInt8)
    case interrupt
    case tick
    case timeIsUp(UUID)
    case callFailed(String)
    /// Another sidetone was asked to call, and leaves it to this one.
    case open(String)
  }

  init(
    call: CallOptions,
    voice: VoiceOptions,
    device: DeviceOptions,
    defaultPort: UInt16,
    answersAtOnce: Bool = false
  ) throws {
    var configuration = PhoneConfiguration()
    try Self.orFail { try device.apply(to: &configuration) }
    call.apply(to: &configuration, defaultPort: defaultPort)
    voice.apply(to: &configuration)
    configuration.maximumCalls = call.calls ?? (answersAtOnce ? 1 : 2)
    self.configuration = configuration
    named = device.named
    duration = call.duration
    self.answersAtOnce = answersAtOnce
    isJSON = call.json
    readsKeys = call.keys
    ringer = call.ringer
    var logger = Logger(label: "sidetone", factory: StreamLogHandler.standardError(label:))
    logger.logLevel = Logger.Level(rawValue: call.logLevel) ?? .warning
    self.logger = logger
  }

  private static func orFail<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      return try work()
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Runs until the call has ended, or until interrupted.
  ///
  /// Throws the exit status.
  func run(endsAfterFirst: Bool, calling address: String?) async throws {
    let terminal = Terminal()
    let printer = EventPrinter(
      isJSON: isJSON,
      terminal: terminal,
      announcesAddresses: address == nil
    )
    var configuration = configuration
    let phone: Phone
    do {
      if let address, configuration.hosts.isEmpty {
        configuration.hosts = [try await Phone.localHost(towards: address)]
      }
      phone = Phone(configuration)
      try await phone.start()
    } catch {
      throw CommandFailure("\(error)")
    }
    terminal.begin()
    defer { terminal.end() }

    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    let sources = sources(of: continuation, phone: phone)
    defer { for source in sources { source.cancel() } }

    if let address {
      Task {
        do {
          try await phone.call(address)
        } catch {
          continuation.yield(.callFailed("\(error)"))
        }
      }
    }
    announce(phone)
    let instance = RunningInstance { continuation.yield(.open($0)) }
    defer { instance?.close() }

    var state = CallSessionState(terminal: terminal, printer: printer, phone: phone, logger: logger)
    var isNoted = false
    for await input in inputs {
      await state.handle(input, answersAtOnce: answersAtOnce, duration: duration, continuation)
      if case .phone(.audioActivated) = input, !isNoted {
        isNoted = true
        // The keys are not kept waiting.
        Task.detached { [named] in DeviceMemory.note(named, in: .sharedInstance()) }
      }
      let isIdle = state.lines.isEmpty && !state.isAudioActive
      let isOver = endsAfterFirst && state.outcome != nil
      if isIdle && (isOver || state.interrupts > 0) || state.interrupts > 1 { break }
    }
    await phone.stop()
    terminal.end()
    if let failure = state.failure { throw CommandFailure(failure) }
    if state.outcome == false {
      throw CommandFailure("the call did not end well: \(state.lastReason)")
    }
    if endsAfterFirst && state.outcome == nil { throw CommandFailure("interrupted before a call") }
  }

  // Where there is a desktop, calls appear there as well, and ring.
  private func announce(_ phone: Phone) {
    let screen = Desktop.callScreen(decide: { CallScreens.decide($0) }) { [logger] handle in
      Task {
        do {
          try await phone.call(handle)
        } catch {
          logger.error("cannot call back: \(error)")
        }
      }
    }
    if let screen { CallScreens.add(screen) }
    if ringer != "none" { CallScreens.add(Ringer(device: DeviceName(ringer))) }
  }

  // MARK: Where inputs come from

  private struct Source {
    let cancel: () -> Void
  }

  private func sources(
    of continuation: AsyncStream<Input>.Continuation,
    phone: Phone
  ) -> [Source] {
    let events = Task {
      for await event in phone.events { continuation.yield(.phone(event)) }
    }
    let ticks = Task {
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        continuation.yield(.tick)
      }
    }
    let signals = InterruptSignals { continuation.yield(.interrupt) }
    let keys = Self.keySource(isWanted: readsKeys) { continuation.yield(.key($0)) }
    return [
      Source { events.cancel() },
      Source { ticks.cancel() },
      Source { signals.cancel() },
      Source { keys?.cancel() },
    ]
  }

  private static func keySource(
    isWanted: Bool,
    _ pressed: @escaping @Sendable (UInt8) -> Void
  ) -> (any DispatchSourceRead)? {
    guard isWanted || isatty(STDIN_FILENO) == 1 else { return nil }
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
    source.setEventHandler {
      var key: UInt8 = 0
      if unsafe read(STDIN_FILENO, &key, 1) == 1 { pressed(key) } else { source.cancel() }
    }
    source.resume()
    return source
  }
}
