import CallSecurity
import CallStore
import EchoServer
import Foundation
import MediaCore
public import SIPSignalling
import SRTP
import UDPTransport

/// Answers every caller at once and sends the caller's own voice back, for remote tests and for
/// measuring load.
///
/// Unlike `Phone` it uses neither the call system nor a sound card. It takes as many calls as the
/// configuration's `maximumCalls`, over one voice thread for each core.
///
/// **Life cycle:** `start` listens, `stop` hangs up and releases. **Thread safety:** an actor.
public actor EchoLine {
  /// An event of a call or an account.
  public enum Event: Equatable, Sendable {
    /// A call arrived and was answered.
    case answered(SIPCallID, from: String)
    /// A call is over.
    case ended(SIPCallID, CallEnd)
    /// The registration of an account has changed.
    case registration(String, RegistrationState)
    /// A caller could not be answered.
    case failed(String)
  }

  private struct Call {
    let leg: MediaLeg
    let engine: Int
    /// True while both sides may send and receive: false before an agreement, and in a hold.
    var isTalking = false
    /// True for a call through an account's server.
    var isByServer = false
    /// True once the call was answered.
    var isAnswered = false
    /// Seconds for which no voice has been expected from the far side.
    var quietSeconds = 0
  }

  private static let secondsBetweenQuestions = Int(PhoneCall.questionNanoseconds / 1_000_000_000)

  /// Events, in order; for one reader.
  public nonisolated let events: AsyncStream<Event>

  private let configuration: PhoneConfiguration
  private let agent: UserAgent
  private let continuation: AsyncStream<Event>.Continuation
  private var engines: [EchoEngine<SecureTransport<MediaSocket>>] = []
  private var calls: [SIPCallID: Call] = [:]
  /// Calls that are being answered, and are not among `calls` yet.
  private var comingCalls: Set<SIPCallID> = []
  private var identity: Identity?
  private var workers: [Task<Void, Never>] = []

  /// Creates a line that does not listen yet; devices and filters of the configuration are not
  /// used.
  public init(_ configuration: PhoneConfiguration) {
    self.configuration = configuration
    var signalling = UserAgent.Configuration(
      hosts: configuration.hosts,
      port: configuration.port,
      user: configuration.user,
      displayName: configuration.displayName
    )
    signalling.limits = .service
    agent = UserAgent(signalling)
    (events, continuation) = AsyncStream.makeStream()
  }

  /// Starts to answer calls, and returns the addresses that the line listens at.
  ///
  /// Throws a `SIPError` if an address cannot be bound, an `IdentityError` if the identity cannot
  /// be loaded, or the system's error if threads cannot be started.
  public func start() async throws -> [String] {
    let period = Int64((configuration.ioBufferDuration ?? 0.01) * 1e9)
    for _ in 0..<max(1, ProcessInfo.processInfo.activeProcessorCount) {
      engines.append(try EchoEngine(period: SampleRate.voice.frames(inNanoseconds: period)))
    }
    if configuration.needsIdentity {
      identity = try IdentityFile(in: CallStore.defaultFolder).load()
    }
    let addresses = try await agent.start(configuration, as: identity)
    await agent.addAccounts(of: configuration, as: identity)
    workers = [
      Task { for await event in agent.events { await handle(event) } },
      Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(1))
          await hangUpOnTheDead()
        }
      },
    ]
    return addresses
  }

  /// Hangs up all calls and stops listening.
  public func stop() async {
    await agent.stop()
    for worker in workers { worker.cancel() }
    for engine in engines { engine.stop() }
    calls = [:]
    engines = []
    continuation.finish()
  }

  /// Number of callers whose voice is being sent back.
  public var callCount: Int { calls.values.count { $0.leg.stream != nil } }

  /// Returns the lateness of the voice threads in each period since this was last called, in
  /// nanoseconds.
  public func takeLateness() -> [Int64] {
    engines.flatMap { $0.takeLateness() }
  }

  private func handle(_ event: SIPEvent) async {
    switch event {
    case .incoming(let id, let caller):
      // Slow servers of one caller's account must not delay the others.
      Task { await answer(id, caller) }
    case .media(let id, let media):
      agree(id, on: media)
    case .ended(let id, let reason):
      end(id, by: CallEnd(reason, wasConnected: true))
    case .renegotiationFailed(_, let reason), .notListeningSecurely(let reason):
      continuation.yield(.failed(reason))
    case .registration(let account, let state):
      continuation.yield(.registration(account, state))
    case .routed(let id, let route):
      take(route, for: id)
    case .unroutable(let id, let reason):
      await agent.hangUp(id)
      end(id, by: .unreachable(reason))
    case .transferRequested(let id, _):
      await agent.reportTransfer(id, status: 603, reason: "Decline")
    case .pathRemark(let remark):
      continuation.yield(.failed(remark))
    case .established(let id, let host):
      calls[id]?.leg.noteAnswer(from: host)
    case .listening, .ringing, .renamed, .offerRefused, .present, .digit, .accountStep,
      .transferProgressed,
      .messagesWaiting:
      break
    }
  }

  // A caller that vanished without BYE must not block others.
  private func hangUpOnTheDead() async {
    for id in calls.keys {
      await askIfQuiet(id)
      // Others may have ended while one was being hung up.
      guard let call = calls[id], let statistics = call.leg.statistics,
        let timeout = MediaTimeout(
          statistics,
          isExpected: call.isTalking,
          isByServer: call.isByServer
        )
      else { continue }
      await agent.hangUp(id)
      end(id, by: .lost(timeout.description))
    }
  }

  // No voice shows that the far side lives, so its signalling has to.
  private func askIfQuiet(_ id: SIPCallID) async {
    guard let call = calls[id] else { return }
    guard call.leg.stream == nil || !call.isTalking else {
      calls[id]?.quietSeconds = 0
      return
    }
    calls[id]?.quietSeconds += 1
    if call.quietSeconds % Self.secondsBetweenQuestions == Self.secondsBetweenQuestions - 1 {
      await agent.ask(id)
    }
  }

  private func end(_ id: SIPCallID, by end: CallEnd) {
    guard let call = calls.removeValue(forKey: id) else { return }
    if let path = call.leg.path {
      let agent = agent
      Task { await agent.closePath(path.id) }
    }
    // A call that was refused never began.
    if call.isAnswered { continuation.yield(.ended(id, end)) }
  }

  private func note(_ report: HandshakeReport, of id: SIPCallID) async {
    guard let call = calls[id] else { return }
    do {
      switch report {
      case .secured(let media): try call.leg.secure(with: media)
      case .failed(let reason): throw CallEnd.securityRefused(reason)
      }
    } catch {
      await agent.hangUp(id)
      end(id, by: CallEnd(error))
    }
  }

  private func answer(_ id: SIPCallID, _ caller: Caller) async {
    let (from, source) = (caller.address, caller.source)
    guard calls.count + comingCalls.count < configuration.maximumCalls else {
      await agent.reject(id, code: 486, phrase: "Busy Here")
      return
    }
    comingCalls.insert(id)
    defer { comingCalls.remove(id) }
    if !configuration.takesAnonymousCalls, SIPAddress.isAnonymous(from) {
      return await agent.reject(id, code: 433, phrase: "Anonymity Disallowed")
    }
    var path: PathOffer?
    do {
      guard let remote = SocketAddress(host: source, port: 5_060),
        let host = (caller.account == nil ? configuration.hosts.first : nil)
          ?? MediaSocket.localAddress(towards: remote)
      else { throw PhoneError.noMedia("no way to \(source)") }
      let leg = MediaLeg(configuration, host: host, identity: identity) { [weak self] report in
        Task { await self?.note(report, of: id) }
      }
      leg.isEncryptionRequired = configuration.security == .required
      leg.noteCaller(at: source)
      leg.checksPaths = caller.media?.addresses != nil
      try leg.open(portPolicy: .anyPort)
      if let port = leg.checkPort {
        let account = configuration.accounts.first { $0.address == caller.account }
        path = await agent.openPath(
          port,
          leg.pathRequest(isOffering: false, account: account)
        )
        leg.path = path
      }
      guard let offer = leg.offer else { throw PhoneError.noMedia("no RTP port at \(host)") }
      // The voice thread with the fewest calls takes it.
      let loads = engines.indices.map { engine in calls.values.count { $0.engine == engine } }
      guard let engine = loads.indices.min(by: { loads[$0] < loads[$1] }) else {
        throw PhoneError.stopped
      }
      try leg.attach(to: engines[engine].streams)
      calls[id] = Call(leg: leg, engine: engine, isByServer: caller.account != nil)
      comingCalls.remove(id)
      guard await agent.answer(id, offer: offer) else {
        calls[id] = nil
        throw PhoneError.noCommonCodec(from)
      }
      if let replaced = caller.replaced, replaced.isNameProven {
        await agent.hangUp(replaced.id)
        end(replaced.id, by: .transferred)
      }
      // It may have hung up at once.
      guard calls[id] != nil else { return }
      calls[id]?.isAnswered = true
      continuation.yield(.answered(id, from: from))
    } catch {
      if let path { await agent.closePath(path.id) }
      await agent.reject(id, code: 480, phrase: "Temporarily Unavailable")
      continuation.yield(.failed("\(error)"))
    }
  }

  private func take(_ route: MediaRoute, for id: SIPCallID) {
    guard let call = calls[id] else { return }
    do {
      try call.leg.take(route)
    } catch {
      fail(id, error)
    }
  }

  // Without a stream nothing would ever end it.
  private func fail(_ id: SIPCallID, _ error: any Error) {
    let agent = agent
    Task { await agent.hangUp(id) }
    end(id, by: CallEnd(error))
  }

  private func agree(_ id: SIPCallID, on media: NegotiatedMedia) {
    guard let call = calls[id] else { return }
    calls[id]?.isTalking = media.maySend && media.mayReceive
    do {
      try call.leg.agree(media)
    } catch {
      fail(id, error)
    }
  }
}
