import ALSAAudio
import AudioRouting
import AVFAudio
import ArgumentParser
import CallKit
import CallScreen
import CallState
import CallSecurity
import CallStore
import Foundation
import Localization
import Logging
import SidetonePhone
import Synchronization
import VoiceEngine

/// Session shared by `listen` and `call`: a phone, keys, signals, a live line and an exit status.
struct CallSession {
  private let configuration: PhoneConfiguration
  private let named: [RememberedSide: KnownDevice]
  private let duration: Double?
  private let account: String?
  private let answersAtOnce: Bool
  private let isJSON: Bool
  private let style: CallOptions.DisplayStyle
  private let report: URL?
  private let recordings: URL
  private let readsKeys: Bool
  private let ringer: String
  private let logger: Logger

  enum Input: Sendable {
    case phone(PhoneEvent)
    case key(Character)
    case interrupt
    /// Time for new figures; `isWholeSecond` is true once a second.
    case tick(isWholeSecond: Bool)
    /// The terminal has another size, or this program is in the foreground again.
    case redraw
    case suspend
    case timeIsUp(UUID)
    case callFailed(String)
    /// Another sidetone, or the desktop, was asked to call an address and leaves it to this one.
    case open(String)
  }

  init(
    call: CallOptions,
    voice: VoiceOptions,
    device: DeviceOptions,
    defaultPort: UInt16,
    answersAtOnce: Bool = false,
    takesAnonymousCalls: Bool = true,
    isAnnounced: Bool = false
  ) throws {
    var configuration = PhoneConfiguration()
    configuration.appName = "Sidetone"
    try CommandFailure.orFail { try device.apply(to: &configuration) }
    try call.apply(to: &configuration, defaultPort: defaultPort)
    voice.apply(to: &configuration)
    configuration.takesAnonymousCalls = takesAnonymousCalls
    configuration.isAnnounced = isAnnounced
    configuration.maximumCalls = call.maximumCalls(answersAtOnce: answersAtOnce)
    self.configuration = configuration
    named = device.named
    duration = call.duration
    account = call.callingAccount
    self.answersAtOnce = answersAtOnce
    isJSON = call.json
    style = call.displayStyle
    let folder = CallStore.defaultFolder.appendingPathComponent("recordings")
    recordings = call.recordings.map { URL(fileURLWithPath: $0) } ?? folder
    try device.checkFiles(beside: [("--report", call.report)])
    report = call.report.map { URL(fileURLWithPath: $0) }
    readsKeys = call.keys
    ringer = call.ringer
    var logger = Logger(label: "sidetone", factory: StreamLogHandler.standardError(label:))
    logger.logLevel = Logger.Level(rawValue: call.logLevel) ?? .warning
    self.logger = logger
  }

  /// Means by which the user can call, for `PersonSearch`.
  var means: PersonSearch.Means {
    PersonSearch.Means(
      hasAccount: !configuration.accounts.isEmpty,
      isAccountNamed: account != nil,
      isEncrypting: configuration.security != .off
    )
  }

  /// True if a call to an address may cost money.
  func mayCost(_ address: String) -> Bool {
    account != nil || CallLink.mayCost(address, among: configuration.accounts)
  }

  /// Runs until the first call has ended if `endsAfterFirst`, otherwise until interrupted.
  ///
  /// Throws a `CommandFailure`, which sets the exit status.
  func run(endsAfterFirst: Bool, calling callee: Callee?) async throws {
    let display = display(announcesAddresses: callee == nil)
    let begin = Date()
    var configuration = configuration
    let phone: Phone
    do {
      if let callee, configuration.hosts.isEmpty, configuration.accounts.isEmpty {
        configuration.hosts = [try await Phone.localHost(towards: callee.address)]
      }
      phone = Phone(configuration)
      try await phone.start()
    } catch {
      throw CommandFailure(reason: "\(error)")
    }
    display.begin()
    defer { display.end() }

    let (inputs, continuation) = AsyncStream<Input>.makeStream()
    let sources = sources(of: continuation, phone: phone, ticks: display.ticksPerSecond)
    defer { for source in sources { source.cancel() } }

    if let callee {
      Task {
        do {
          try await phone.call(callee, account: account)
        } catch {
          continuation.yield(.callFailed("\(error)"))
        }
      }
    }
    announce(phone)
    let instance = RunningInstance(
      call: { continuation.yield(.open($0)) },
      open: { continuation.yield(Self.input(opening: $0)) }
    )
    defer { instance.close() }

    var state = CallSessionState(
      CallSessionState.Policy(answersAtOnce: answersAtOnce, endsAfterFirst: endsAfterFirst)
    )
    var recorder = report.map { CallRecorder(file: $0, begin: begin) }
    var isNoted = false
    for await input in inputs {
      guard let event = await event(of: input, phone, state, display, continuation) else {
        continue
      }
      if let failure = recorder?.note(event) { display.show(.error(failure)) }
      for effect in state.handle(event) {
        await perform(effect, on: phone, display, continuation)
      }
      display.show(state)
      if event == .phone(.audioActivated), !isNoted {
        isNoted = true
        // The keys are not kept waiting.
        Task.detached { [named] in DeviceMemory.note(named, in: .sharedInstance()) }
      }
      if state.isOver { break }
    }
    await phone.stop()
    display.end()
    if let failure = state.failure { throw CommandFailure(reason: failure) }
  }

  private func display(announcesAddresses: Bool) -> any CallDisplay {
    let terminal = Terminal(showsLiveLine: style != .screenReader)
    if style == .automatic, !isJSON, logger.logLevel >= .warning,
      let screen = ScreenDisplay(terminal, announcesAddresses: announcesAddresses)
    {
      return screen
    }
    return EventPrinter(
      isJSON: isJSON,
      terminal: terminal,
      announcesAddresses: announcesAddresses
    )
  }

  // What an input means to the session's calls, once it has been printed; nil if nothing.
  private func event(
    of input: Input,
    _ phone: Phone,
    _ state: CallSessionState,
    _ display: any CallDisplay,
    _ continuation: AsyncStream<Input>.Continuation
  ) async -> CallSessionState.Event? {
    switch input {
    case .phone(let event):
      logger.debug("\(event)")
      display.show(event)
      return .phone(event)
    case .key(let key):
      return .key(key)
    case .tick(let isWholeSecond):
      let statistics = state.active?.isConnected == true ? await phone.statistics() : nil
      display.show(statistics, isWholeSecond: isWholeSecond)
      guard let statistics, isWholeSecond else { return nil }
      logger.trace("\(statistics)")
      return .statistics(statistics)
    case .redraw:
      display.redraw()
      return nil
    case .suspend:
      display.suspend()
      kill(getpid(), SIGSTOP)
      return nil
    case .timeIsUp(let call):
      return .timeIsUp(call)
    case .callFailed(let reason):
      return .callFailed(reason)
    case .interrupt:
      return .interrupted
    case .open(let address):
      guard mayCost(address) else {
        call(address, by: phone, continuation)
        return nil
      }
      let isAsked = readsKeys || isatty(STDIN_FILENO) == 1
      let shown = Terminal.plain(address)
      display.show(
        .error(isAsked ? CallLink.question(about: shown) : CallLink.refusal(of: shown))
      )
      return isAsked ? .linked(address) : nil
    }
  }

  // Names take time to look up, and keys must not wait for that.
  private func call(
    _ address: String,
    by phone: Phone,
    _ continuation: AsyncStream<Input>.Continuation
  ) {
    Task {
      do {
        try await phone.call(address)
      } catch {
        continuation.yield(.phone(.error("\(error)")))
      }
    }
  }

  private func perform(
    _ effect: CallSessionState.Effect,
    on phone: Phone,
    _ display: any CallDisplay,
    _ continuation: AsyncStream<Input>.Continuation
  ) async {
    do {
      switch effect {
      case .answer(let call): try await phone.answer(call)
      case .endAndAnswer(let call): try await phone.endAndAnswer(call)
      case .end(let call): try await phone.end(call)
      case .setMuted(let call, let state): try await phone.setMuted(call, state)
      case .setHeld(let call, let isHeld): try await phone.setHeld(call, isHeld)
      case .join(let call, let other): try await phone.join(call, with: other)
      case .connect(let call, let other): try await phone.transfer(call, to: other)
      case .transfer(let call, let address): try await phone.transfer(call, to: address)
      case .followTransfer(let call, true): try await phone.acceptTransfer(call)
      case .followTransfer(let call, false): try await phone.declineTransfer(call)
      case .call(let address): call(address, by: phone, continuation)
      case .showTarget(let text): display.show(typed: text)
      case .press(let call, let digit): try await phone.press(call, digit)
      case .record(let call, true): try await phone.startRecording(call, to: recordingFile())
      case .record(let call, false): await phone.stopRecording(call)
      case .verify(let call): try await phone.verify(call)
      case .summarize(let statistics): display.showSummary(statistics)
      case .limit(let call):
        guard let duration else { return }
        Task {
          try? await Task.sleep(for: .seconds(duration))
          continuation.yield(.timeIsUp(call))
        }
      }
    } catch let error as CXErrorCodeRequestTransactionError {
      // A call that has just ended needs no word: its event says so.
      guard error.code != .unknownCallUUID else { return }
      let text = String(localized: "that is not possible for this call now (\("\(error.code)"))")
      display.show(.error(text))
    } catch {
      display.show(.error("\(error)"))
    }
  }

  private static func input(opening link: String) -> Input {
    do {
      return .open(try CallLink(link).address(gateway: CallLink.usualGateway))
    } catch {
      return .phone(.error("\(error)"))
    }
  }

  private func recordingFile() -> URL {
    let format = DateFormatter()
    format.dateFormat = "yyyy-MM-dd HH-mm-ss"
    return recordings.appendingPathComponent("\(format.string(from: Date())).wav")
  }

  // Where there is a desktop, calls appear there as well, and ring.
  private func announce(_ phone: Phone) {
    CallScreens.useOwn()
    let screen = Desktop.callScreen(
      decide: { CallScreens.decide($0) },
      callBack: { [logger] details in
        guard let handle = details.remoteHandle else { return }
        Task {
          do {
            try await phone.call(handle.value)
          } catch {
            logger.error("cannot call back: \(error)")
          }
        }
      }
    )
    if let screen { CallScreens.add(screen) }
    if ringer != "none" { CallScreens.add(Ringer(device: DeviceName(ringer))) }
  }

  // MARK: Where inputs come from

  private struct Source {
    let cancel: () -> Void
  }

  private func sources(
    of continuation: AsyncStream<Input>.Continuation,
    phone: Phone,
    ticks ticksPerSecond: Int
  ) -> [Source] {
    let events = Task {
      for await event in phone.events { continuation.yield(.phone(event)) }
    }
    let ticks = Task {
      var count = 0
      while !Task.isCancelled {
        // Cancelled, it ends at once.
        try? await Task.sleep(for: .milliseconds(1_000 / ticksPerSecond))
        count += 1
        continuation.yield(.tick(isWholeSecond: count % ticksPerSecond == 0))
      }
    }
    let signals = SignalSources(SignalSources.interrupts) { continuation.yield(.interrupt) }
    let changes = SignalSources([SIGWINCH, SIGCONT]) { continuation.yield(.redraw) }
    let stops = SignalSources([SIGTSTP]) { continuation.yield(.suspend) }
    let keys = Self.keySource(isWanted: readsKeys) { continuation.yield(.key($0)) }
    return [
      Source { events.cancel() },
      Source { ticks.cancel() },
      Source { signals.cancel() },
      Source { changes.cancel() },
      Source { stops.cancel() },
      Source { keys?.cancel() },
    ]
  }

  private static func keySource(
    isWanted: Bool,
    _ pressed: @escaping @Sendable (Character) -> Void
  ) -> (any DispatchSourceRead)? {
    guard isWanted || isatty(STDIN_FILENO) == 1 else { return nil }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: STDIN_FILENO,
      queue: DispatchQueue(label: "sidetone.keys")
    )
    let decoder = Mutex(KeyDecoder())
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = unsafe read(STDIN_FILENO, &bytes, bytes.count)
      guard count <= 0 else {
        for key in decoder.withLock({ $0.keys(in: bytes[..<count]) }) { pressed(key) }
        return
      }
      // In the background reads fail with EIO, and the source would fire again at once. A terminal
      // that has gone belongs to no program.
      guard count < 0, errno == EIO, tcgetpgrp(STDIN_FILENO) >= 0 else { return source.cancel() }
      _ = poll(nil, 0, 200)
    }
    source.resume()
    return source
  }
}
