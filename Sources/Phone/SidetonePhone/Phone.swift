import AVFAudio
import CallKit
public import Foundation
import MediaCore
import RealTime
import SIPSignalling
import UDPTransport
public import VoiceEngine

/// A telephone: call states, signalling, audio session and voice path joined.
///
/// ```swift
/// var configuration = PhoneConfiguration()
/// configuration.user = "alice"
/// let phone = Phone(configuration)
/// try await phone.start()
/// try await phone.call("sip:bob@192.168.1.20")
/// for await event in phone.events {
///   print(event)
///   if case .ended = event { break }
/// }
/// await phone.stop()
/// ```
///
/// **Life cycle:** `start` listens, `stop` hangs up and closes; one phone at a time in a process,
/// since the process has one audio session. **Thread safety:** an actor.
public actor Phone {
  /// What happens, in order; for one reader.
  public nonisolated let events: AsyncStream<PhoneEvent>

  private enum Input: Sendable {
    case system(CallSystemInput)
    case sip(SIPEvent)
    case refused(UUID, String)
  }

  let configuration: PhoneConfiguration
  let continuation: AsyncStream<PhoneEvent>.Continuation
  private let inbox: AsyncStream<Input>
  private let inboxContinuation: AsyncStream<Input>.Continuation
  let agent: UserAgent
  let provider: CXProvider
  private let controller = CXCallController()
  private let delegate: PhoneDelegate
  var calls: [PhoneCall] = []
  private var workers: [Task<Void, Never>] = []
  /// Whether the configured RTP port may still be in use by a call of this phone.
  var hasHadCalls = false
  var hasWarnedOfScheduling = false
  private var routeObservation: RouteObservation?
  var keyListener: EventListener?

  /// A phone that is not listening yet.
  public init(_ configuration: PhoneConfiguration) {
    self.configuration = configuration
    (events, continuation) = AsyncStream.makeStream()
    let (inbox, inboxContinuation) = AsyncStream<Input>.makeStream()
    self.inbox = inbox
    self.inboxContinuation = inboxContinuation
    agent = UserAgent(
      .init(
        hosts: configuration.hosts,
        port: configuration.port,
        user: configuration.user,
        displayName: configuration.displayName
      )
    )
    let settings = CXProviderConfiguration(localizedName: "Sidetone")
    settings.maximumCallGroups = configuration.maximumCalls
    settings.supportedHandleTypes = [.generic]
    settings.ringDuration = configuration.ringDuration
    provider = CXProvider(configuration: settings)
    delegate = PhoneDelegate { inboxContinuation.yield(.system($0)) }
  }

  // MARK: Verbs

  /// Listens for calls.
  ///
  /// Throws a `SIPError` if an address or port cannot be had.
  public func start() async throws {
    let session = AVAudioSession.sharedInstance()
    // Another phone's call in this process keeps its devices.
    if session.voiceEngine == nil {
      session.learn(
        capture: configuration.knownMicrophone,
        playback: configuration.knownLoudspeaker
      )
      session.standIns = configuration.standIns
      session.devices = configuration.devices
    }
    session.speechFilters = configuration.filters
    session.usesCardProfiles = configuration.usesCardProfiles
    try session.setCategory(.playAndRecord, mode: .voiceChat)
    if let period = configuration.ioBufferDuration {
      try session.setPreferredIOBufferDuration(period)
    }
    let addresses = try await agent.start()
    routeObservation?.stop()
    routeObservation = RouteObservation { [continuation] in continuation.yield($0) }
    provider.setDelegate(delegate, queue: DispatchQueue(label: "sidetone.phone"))
    workers = [
      Task { for await input in inbox { await handle(input) } },
      Task { [agent] in for await event in agent.events { inboxContinuation.yield(.sip(event)) } },
      Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(1))
          watch()
        }
      },
    ]
    continuation.yield(.registered(addresses: addresses))
  }

  /// Calls a SIP URI, for example `sip:bob@192.168.1.20`, and returns the call's name.
  @discardableResult
  public func call(_ text: String) async throws -> UUID {
    let (address, remote, localHost) = try await Self.route(to: text)
    let call = PhoneCall(uuid: UUID(), isOutgoing: true, remote: text, localHost: localHost)
    call.socket = try configuration.openSocket(at: localHost, isFirst: !hasHadCalls)
    hasHadCalls = true
    calls.append(call)
    let uri = address.uri(atNumericHost: remote.host)
    do {
      try await controller.request(
        CXTransaction(
          action: CXStartCallAction(
            call: call.uuid,
            handle: CXHandle(type: .generic, value: uri)
          )
        )
      )
    } catch {
      calls.removeAll { $0 === call }
      throw PhoneError("too many calls are in progress")
    }
    continuation.yield(.calling(call.uuid, to: text))
    if !address.usesTCP { probe(remote, for: call.uuid) }
    return call.uuid
  }

  /// The numeric address of this machine from which a call to `text` would leave.
  ///
  /// A caller with several networks binds to it alone: SIP then names the right address to the far
  /// side. Throws a `PhoneError` if `text` is no SIP address or its host is unknown.
  public static func localHost(towards text: String) async throws -> String {
    try await route(to: text).localHost
  }

  private static func route(
    to text: String
  ) async throws -> (address: SIPAddress, remote: SocketAddress, localHost: String) {
    guard let address = SIPAddress(text) else {
      throw PhoneError("\"\(text)\" is not a SIP address; write sip:NAME@HOST")
    }
    guard let host = await resolve(address.host) else {
      throw PhoneError("unknown host \"\(address.host)\"")
    }
    guard let remote = SocketAddress(host: host, port: address.port),
      let localHost = MediaSocket.localAddress(towards: remote)
    else {
      throw PhoneError("no route to \(host)")
    }
    return (address, remote, localHost)
  }

  /// Takes an incoming call.
  public func answer(_ uuid: UUID) async throws {
    try await controller.request(CXTransaction(action: CXAnswerCallAction(call: uuid)))
  }

  /// Declines, cancels or hangs up a call.
  public func end(_ uuid: UUID) async throws {
    try await controller.request(CXTransaction(action: CXEndCallAction(call: uuid)))
  }

  /// Ends the calls that stand and takes an incoming one.
  public func endAndAnswer(_ uuid: UUID) async throws {
    let ends = calls.filter { $0.uuid != uuid && !$0.isHeld }.map { CXEndCallAction(call: $0.uuid) }
    try await controller.request(CXTransaction(actions: ends + [CXAnswerCallAction(call: uuid)]))
  }

  /// Holds a call: neither side hears the other, and the sound devices are free unless another call
  /// has them; or resumes it, whereupon the call that stands is held.
  public func setHeld(_ uuid: UUID, _ isHeld: Bool) async throws {
    try await controller.request(
      CXTransaction(action: CXSetHeldCallAction(call: uuid, onHold: isHeld))
    )
  }

  /// Joins two calls: all three hear each other.
  public func join(_ uuid: UUID, with other: UUID) async throws {
    try await controller.request(
      CXTransaction(action: CXSetGroupCallAction(call: uuid, callUUIDToGroupWith: other))
    )
  }

  /// Takes a call out of a conference; the others are held.
  public func separate(_ uuid: UUID) async throws {
    try await controller.request(
      CXTransaction(action: CXSetGroupCallAction(call: uuid, callUUIDToGroupWith: nil))
    )
  }

  /// Sends keys of the telephone's pad: 0 to 9, `*`, `#`, A to D (RFC 4733).
  public func press(_ uuid: UUID, _ keys: String) async throws {
    try await controller.request(
      CXTransaction(action: CXPlayDTMFCallAction(call: uuid, digits: keys, type: .singleTone))
    )
  }

  /// Sends silence instead of the microphone, or the microphone again.
  public func setMuted(_ uuid: UUID, _ state: MuteState) async throws {
    try await controller.request(
      CXTransaction(action: CXSetMutedCallAction(call: uuid, muted: state == .muted))
    )
  }

  /// The figures of the call that stands, nil without one.
  public func statistics() -> CallStatistics? {
    guard let engine, let device = engine.statistics(),
      let call = calls.first(where: { $0.stream != nil }), let id = call.stream,
      let stream = engine.statistics(of: id)
    else { return nil }
    let start = call.connectedAt ?? MonotonicClock.now()
    return CallStatistics(
      call: call.uuid,
      seconds: Double(MonotonicClock.now().nanoseconds(since: start)) / 1e9,
      isMuted: call.isMuted,
      stream: stream,
      engine: device,
      isRealTime: engine.scheduling == .realTime
    )
  }

  /// Hangs up, releases the devices and stops listening.
  public func stop() async {
    for call in calls {
      finish(call, reason: "hung up", isClean: call.connectedAt != nil)
      provider.reportCall(with: call.uuid, endedAt: nil, reason: .remoteEnded)
    }
    await agent.stop()
    provider.invalidate()
    for worker in workers { worker.cancel() }
    routeObservation?.stop()
    keyListener = nil
    inboxContinuation.finish()
    continuation.finish()
  }

  // MARK: Inputs

  private func handle(_ input: Input) async {
    switch input {
    case .system(let input):
      await handle(input)
    case .sip(let event):
      await handle(event)
    case .refused(let uuid, let reason):
      guard let call = calls.first(where: { $0.uuid == uuid }), call.media == nil else { return }
      await hangUp(call)
      conclude(call, reason: reason, as: .failed, isClean: false)
    }
  }

  private func handle(_ input: CallSystemInput) async {
    switch input {
    case .start(let delivered):
      await start(delivered.action)
    case .answer(let delivered):
      await answer(delivered.action)
    case .end(let delivered):
      await end(delivered.action)
    case .setMuted(let delivered):
      setMuted(delivered.action)
    case .setHeld(let delivered):
      await setHeld(delivered.action)
    case .setGroup(let delivered):
      setGroup(delivered.action)
    case .playDTMF(let delivered):
      playDTMF(delivered.action)
    case .didActivate:
      continuation.yield(.audioActivated)
      listenForKeys()
      for call in calls { attachIfPossible(call) }
    case .didDeactivate:
      keyListener = nil
      // The engine has let every stream go; the next one starts with `didActivate`.
      for call in calls { detach(call) }
      continuation.yield(.audioDeactivated)
    case .failedToActivate(let reason):
      continuation.yield(.error(reason))
      for call in calls
      where call.endReason == nil && !call.isHeld && (call.isOutgoing || call.media != nil) {
        call.endReason = (reason, false)
      }
    case .didReset:
      for call in calls {
        await hangUp(call)
        finish(call, reason: "the call system was reset", isClean: false)
      }
    }
  }

  private func handle(_ event: SIPEvent) async {
    switch event {
    case .listening(let addresses):
      continuation.yield(.registered(addresses: addresses))
    case .untold(let id, let reason):
      guard call(of: id) != nil else { return }
      continuation.yield(.error("the far side could not be told: \(reason)"))
    case .incoming(let id, let from, let displayName, let source):
      await incoming(id, from: from, name: displayName, source: source)
    case .ringing(let id):
      guard let call = call(of: id) else { return }
      provider.reportOutgoingCall(with: call.uuid, startedConnectingAt: nil)
      continuation.yield(.ringing(call.uuid))
    case .media(let id, let media):
      guard let call = call(of: id) else { return }
      noteFarHold(call, media)
      call.media = media
      attachIfPossible(call)
    case .established(let id):
      guard let call = call(of: id), call.connectedAt == nil else { return }
      call.connectedAt = MonotonicClock.now()
      if call.isOutgoing { provider.reportOutgoingCall(with: call.uuid, connectedAt: nil) }
      continuation.yield(.connected(call.uuid, to: call.remote))
    case .ended(let id, let reason):
      guard let call = call(of: id) else { return }
      let hadStood = call.connectedAt != nil
      let isClean = hadStood && reason == .remoteHangUp
      conclude(
        call,
        reason: "\(reason)",
        as: hadStood ? .remoteEnded : .unanswered,
        isClean: isClean
      )
    }
  }

  // MARK: Calls

  private func incoming(
    _ id: SIPCallID,
    from address: String,
    name: String?,
    source: String
  ) async {
    guard calls.count < configuration.maximumCalls,
      let remote = SocketAddress(host: source, port: 9),
      let localHost = MediaSocket.localAddress(towards: remote)
    else {
      await agent.reject(id, code: 486, phrase: "Busy Here")
      return
    }
    let call = PhoneCall(uuid: UUID(), isOutgoing: false, remote: address, localHost: localHost)
    call.sip = id
    call.ringsUntil = MonotonicClock.now().advanced(
      byNanoseconds: Int64(provider.configuration.ringDuration * 1e9)
    )
    calls.append(call)
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: address)
    if let name { update.localizedCallerName = name }
    do {
      try await provider.reportNewIncomingCall(with: call.uuid, update: update)
      let shown = provider.displayName(of: call.uuid) ?? address
      let from = shown == address ? address : "\(shown) <\(address)>"
      call.remote = from
      continuation.yield(.incoming(call.uuid, from: from))
    } catch {
      calls.removeAll { $0 === call }
      let isBlocked =
        (error as? CXErrorCodeIncomingCallError)?.code == .filteredByBlockList
      await agent.reject(
        id,
        code: isBlocked ? 603 : 480,
        phrase: isBlocked ? "Decline" : "Temporarily Unavailable"
      )
    }
  }

  func call(of id: SIPCallID) -> PhoneCall? {
    calls.first { $0.sip == id }
  }

  func hangUp(_ call: PhoneCall, as kind: SIPRefusal = .declined) async {
    if let sip = call.sip { await agent.hangUp(sip, as: kind) }
    call.sip = nil
  }

  // The far side or the network ended it: report it to the call system; no action comes.
  func conclude(
    _ call: PhoneCall,
    reason: String,
    as kind: CXCallEndedReason,
    isClean: Bool
  ) {
    provider.reportCall(with: call.uuid, endedAt: nil, reason: kind)
    finish(call, reason: reason, isClean: isClean)
  }

  func finish(_ call: PhoneCall, reason: String, isClean: Bool) {
    guard calls.contains(where: { $0 === call }) else { return }
    leaveConference(call)
    detach(call)
    calls.removeAll { $0 === call }
    call.socket = nil
    continuation.yield(.ended(call.uuid, reason: reason, isClean: isClean))
  }

  // MARK: Blocking work

  // A thread that may block, for one job. Not one of the global queue's: there are as many as
  // processors, and tasks run on them; where there is one, everything would wait.
  private nonisolated static var waitingRoom: DispatchQueue {
    DispatchQueue(label: "sidetone.waiting")
  }

  private static func resolve(_ host: String) async -> String? {
    await withCheckedContinuation { continuation in
      waitingRoom.async {
        continuation.resume(returning: MediaSocket.resolve(host))
      }
    }
  }

  private nonisolated func probe(_ address: SocketAddress, for uuid: UUID) {
    let inbox = inboxContinuation
    Self.waitingRoom.async {
      guard ReachabilityProbe.isRefused(address, milliseconds: 1_000) else { return }
      inbox.yield(.refused(uuid, "connection refused: no SIP phone listens at \(address)"))
    }
  }
}
