import AVFAudio
import CallKit
import CallSecurity
import CallStore
import DesktopServices
public import Foundation
import MediaCore
import RTP
import RealTime
import SIPSignalling
import UDPTransport
public import VoiceEngine

/// A telephone, which combines the call system, signalling, the audio session and the voice path.
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
/// `PhoneControl` decides; the phone passes events to it and performs its orders.
///
/// **Life cycle:** `start` listens, `stop` hangs up and closes; one phone at a time in a process,
/// since the process has one audio session. **Thread safety:** an actor.
public actor Phone {
  /// Events, in order; for one reader.
  public nonisolated let events: AsyncStream<PhoneEvent>

  private enum Input: Sendable {
    case system(CallSystemInput)
    case sip(SIPEvent)
    case unreachable(UUID, String)
    case handshake(UUID, HandshakeReport)
  }

  let configuration: PhoneConfiguration
  let continuation: AsyncStream<PhoneEvent>.Continuation
  private let inbox: AsyncStream<Input>
  private let inboxContinuation: AsyncStream<Input>.Continuation
  let agent: UserAgent
  let provider: CXProvider
  let controller = CXCallController()
  private let delegate: PhoneDelegate
  var control: PhoneControl
  var identity: Identity?
  var peers = PeerBook(nil)
  var calls: [UUID: LiveCall] = [:]
  /// The transfer that a far side asked for right before it hung up, until there is another call.
  var requestLeft: LeftRequest?
  /// Registration states of the accounts, by their addresses.
  var registrations: [String: RegistrationState] = [:]
  private var workers: [Task<Void, Never>] = []
  /// The first call must have the configured RTP port; later ones may find it in use.
  var portPolicy = MediaLeg.PortPolicy.configuredPort
  private var routeObservation: RouteObservation?
  var digitListener: EventListener?
  var publisher: ServicePublisher?
  /// Recordings that are being closed, by their files.
  var closings: [URL: Task<Void, Never>] = [:]

  /// Creates a phone that is not listening yet.
  public init(_ configuration: PhoneConfiguration) {
    self.configuration = configuration
    (events, continuation) = AsyncStream.makeStream()
    let (inbox, inboxContinuation) = AsyncStream<Input>.makeStream()
    self.inbox = inbox
    self.inboxContinuation = inboxContinuation
    control = PhoneControl(maximumCalls: configuration.maximumCalls)
    agent = UserAgent(
      .init(
        hosts: configuration.hosts,
        port: configuration.port,
        user: configuration.user,
        displayName: configuration.displayName
      )
    )
    let settings = CXProviderConfiguration(localizedName: configuration.appName)
    // While one takes the place of another there is one more.
    settings.maximumCallGroups = configuration.maximumCalls + 1
    settings.supportedHandleTypes = [.generic]
    settings.ringDuration = configuration.ringDuration
    provider = CXProvider(configuration: settings)
    delegate = PhoneDelegate { inboxContinuation.yield(.system($0)) }
  }

  // MARK: Verbs

  /// Listens for calls.
  ///
  /// Throws a `SIPError` if an address or port cannot be bound, an `IdentityError` if the user's
  /// identity cannot be loaded, or the error of the store or the audio session.
  public func start() async throws {
    if configuration.needsIdentity { try await loadIdentity() }
    let session = AVAudioSession.sharedInstance()
    // Another phone's call in this process keeps its devices.
    if session.voiceEngine == nil { session.devices = configuration.devices }
    session.speechFilters = configuration.filters
    session.usesCardProfiles = configuration.usesCardProfiles
    try session.setCategory(.playAndRecord, mode: .voiceChat)
    if let period = configuration.ioBufferDuration {
      try session.setPreferredIOBufferDuration(period)
    }
    for host in await peers.hosts() { await agent.noteCall(with: host) }
    let addresses = try await agent.start(configuration, as: identity)
    routeObservation?.stop()
    routeObservation = RouteObservation { [continuation] in continuation.yield($0) }
    provider.setDelegate(delegate, queue: DispatchQueue(label: "sidetone.phone"))
    workers = [
      Task { for await input in inbox { await handle(input) } },
      Task { [agent] in for await event in agent.events { inboxContinuation.yield(.sip(event)) } },
      Task {
        while !Task.isCancelled {
          try? await Task.sleep(for: .seconds(1))
          await watch()
        }
      },
    ]
    continuation.yield(.registered(addresses: addresses))
    await agent.addAccounts(of: configuration, as: identity)
    announce(at: addresses)
  }

  /// Calls a SIP URI, for example `sip:bob@192.168.1.20`, and returns the call's identifier.
  ///
  /// - Parameters:
  ///   - text: the URI; with an account also a user's name at its server, or a telephone number.
  ///   - account: the address of the account to call with; nil for the one whose server has the
  ///     URI's domain, for the first one if `text` is no URI, or else for none.
  /// - Returns: the call's identifier.
  /// - Throws: a `PhoneError` or a `CallEnd` if `text` cannot be called.
  @discardableResult
  public func call(_ text: String, account: String? = nil) async throws -> UUID {
    try await call(text, account.map { .named($0) } ?? .any)
  }

  /// Places a call, to the `target` of a transfer if a far side has asked for it; the far side of
  /// the call `id` gets reports.
  @discardableResult
  func call(
    _ text: String,
    _ use: AccountUse,
    announced: Fingerprint? = nil,
    target: TransferTarget? = nil,
    reportingTo id: SIPCallID? = nil
  ) async throws -> UUID {
    requestLeft = nil
    // Who encrypts nothing looks at no identity.
    let expected = configuration.security == .off ? nil : announced
    var route = try await route(
      to: text,
      use,
      announced: expected,
      isRequested: target != nil
    )
    route.target = target
    var call = PhoneCall(outgoing: UUID(), to: text, route.rule)
    call.isByServer = route.account != nil
    let leg = makeLeg(call.uuid, host: route.localHost)
    let rule = route.rule
    leg.isEncryptionRequired = rule.isEncryptionRequired
    leg.checksPaths = route.account != nil
    try leg.open(portPolicy: portPolicy)
    portPolicy = .anyPort
    let live = LiveCall(leg, .called(route))
    calls[call.uuid] = live
    // Before the call system waits for anything.
    await openPath(call.uuid, isOffering: true)
    // There may have been other calls meanwhile.
    guard control.hasRoom(forKnown: true) || id != nil else {
      await release(call.uuid)
      throw PhoneError.tooManyCalls
    }
    live.transfer = id.map { RequestedCall(id: $0, interrupted: control.active) }
    control.add(call)
    let uri = route.uri(by: route.address.transport ?? .udp)
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
      control.remove(call.uuid)
      await release(call.uuid)
      throw PhoneError.tooManyCalls
    }
    continuation.yield(.calling(call.uuid, to: text))
    return call.uuid
  }

  /// Answers an incoming call.
  public func answer(_ uuid: UUID) async throws {
    try await controller.request(CXTransaction(action: CXAnswerCallAction(call: uuid)))
  }

  /// Declines, cancels or hangs up a call; throws a `CXErrorCodeRequestTransactionError` if there
  /// is no such call.
  public func end(_ uuid: UUID) async throws {
    try await controller.request(CXTransaction(action: CXEndCallAction(call: uuid)))
  }

  /// Ends the calls that are neither held nor ringing, and answers an incoming one.
  public func endAndAnswer(_ uuid: UUID) async throws {
    let ends = control.callsToEnd(before: uuid).map { CXEndCallAction(call: $0) }
    try await controller.request(CXTransaction(actions: ends + [CXAnswerCallAction(call: uuid)]))
  }

  /// Holds a call: no voice is sent or played, and the sound devices are free unless another call
  /// has them; or resumes it, upon which the active call is held.
  ///
  /// If devices or descriptors for a resume are missing, an `error` event gives the reason, and the
  /// call is held again.
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

  /// Sends DTMF digits: 0 to 9, `*`, `#`, A to D (RFC 4733), each for 100 ms.
  ///
  /// Digits that have not been sent when the sides agree on other media, or hold, are dropped.
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

  /// The figures of the active call, nil without one.
  public func statistics() -> CallStatistics? {
    let active = control.calls.first { calls[$0.uuid]?.leg.stream != nil }
    guard let engine, let device = engine.statistics(), let active,
      let stream = calls[active.uuid]?.leg.statistics
    else { return nil }
    let now = MonotonicClock.now()
    return CallStatistics(
      call: active.uuid,
      seconds: Double(now.nanoseconds(since: active.establishedAt ?? now)) / 1e9,
      isMuted: active.isMuted,
      protection: active.protection ?? .open,
      stream: stream,
      engine: device,
      isRealTime: engine.scheduling == .realTime
    )
  }

  /// Hangs up, releases the devices and stops listening.
  public func stop() async {
    publisher = nil
    await perform(control.handle(.phoneStopped, at: MonotonicClock.now()))
    await finishRecordings()
    await agent.stop()
    // Devices that are still being opened come first: what ends with them is queued after that.
    await AVAudioSession.sharedInstance().finishOperations()
    provider.invalidate()
    await AVAudioSession.sharedInstance().releaseDevices()
    for worker in workers { worker.cancel() }
    routeObservation?.stop()
    digitListener = nil
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
    case .unreachable(let uuid, let reason):
      // It may have answered and gone since, or have come up after the probe; what it said may
      // still be on its way here.
      guard let sip = control[uuid]?.sip, await agent.isUnheardOf(sip) else { return }
      await handle(.unreachable(reason), of: uuid)
    case .handshake(let uuid, .failed(let reason)):
      await handle(.mediaFailed(.securityRefused(reason)), of: uuid)
    case .handshake(let uuid, .secured(let media)):
      await handle(.encrypted(media.encryption, isLasting: media.isLasting), of: uuid)
      await change(uuid) { try $0.secure(with: media) }
      await endReplacedIfEstablished(by: uuid)
    }
  }

  private func handle(_ input: CallSystemInput) async {
    switch input {
    case .perform(let request, let delivered):
      await handle(.perform(request), of: delivered.action.callUUID, for: delivered)
    case .setGroup(let other, let delivered):
      await perform(control.setGroup(delivered.action.callUUID, with: other), for: delivered)
    case .didActivate:
      continuation.yield(.audioActivated)
      listenForDigits()
      await attachLegs(to: engine)
    case .didDeactivate:
      digitListener = nil
      await attachLegs(to: nil)
      continuation.yield(.audioDeactivated)
    case .failedToActivate(let reason):
      continuation.yield(.error(reason))
      await perform(control.handle(.activationFailed(reason), at: MonotonicClock.now()))
    case .didReset:
      await perform(control.handle(.reset, at: MonotonicClock.now()))
    }
  }

  private func handle(_ event: SIPEvent) async {
    switch event {
    case .listening(let addresses):
      continuation.yield(.registered(addresses: addresses))
      // Without a network there was nothing to announce.
      if publisher == nil { announce(at: addresses) }
    case .notListeningSecurely(let reason):
      continuation.yield(.error(reason))
    case .registration(let account, let state):
      note(state, of: account)
    case .messagesWaiting(let account, let count):
      continuation.yield(.messagesWaiting(account, count: count))
    case .accountStep(let account, let step):
      continuation.yield(.accountStep(account, step))
    case .incoming(let id, let caller):
      await incoming(id, from: caller)
    case .ringing(let id):
      if let call = control.call(of: id) {
        await reportTransfer(of: call.uuid, status: 180, reason: "Ringing")
      }
      await handle(.progressed, ofDialog: id)
    case .media(let id, let media):
      await handle(.agreed(media), ofDialog: id)
    case .established(let id, let host):
      await handle(.established, ofDialog: id)
      if let host { peers.noteCall(with: host) }
      guard let call = control.call(of: id) else { return }
      calls[call.uuid]?.leg.noteAnswer(from: host)
      await reportTransfer(of: call.uuid, status: 200, reason: "OK")
      await endReplaced(by: call.uuid)
    case .transferRequested(let id, let target):
      note(target, for: id)
    case .transferProgressed(let id, let status):
      await handle(.transferProgressed(status), ofDialog: id)
    case .renamed(let id, let address, let name): rename(id, to: address, name)
    case .routed(let id, let route): await handle(.routed(route), ofDialog: id)
    case .unroutable(let id, let reason):
      await handle(.mediaFailed(.unreachable(reason)), ofDialog: id)
    case .pathRemark(let remark):
      continuation.yield(.error(remark))
    case .digit(let id, let digit):
      if let call = control.call(of: id) { continuation.yield(.pressed(call.uuid, key: digit)) }
    case .offerRefused(let id): await handle(.offerRefused, ofDialog: id)
    case .present(let id): await handle(.present, ofDialog: id)
    case .renegotiationFailed(let id, let reason):
      await handle(.renegotiationFailed(reason), ofDialog: id)
    case .ended(let id, let reason):
      await handle(.signallingEnded(reason), ofDialog: id)
    }
  }

  private func handle(_ event: PhoneCallEvent, ofDialog id: SIPCallID) async {
    guard let call = control.call(of: id) else { return }
    await handle(event, of: call.uuid)
  }

  func handle(_ event: PhoneCallEvent, of uuid: UUID, for action: Delivered? = nil) async {
    await perform(control.handle(event, of: uuid, at: MonotonicClock.now()), for: action)
  }

  private func incoming(_ id: SIPCallID, from caller: Caller) async {
    let address = caller.address
    requestLeft = nil
    guard control.hasRoom(forKnown: caller.isKnown) || caller.replaced != nil,
      let remote = SocketAddress(host: caller.source, port: 9),
      let localHost = MediaSocket.localAddress(towards: remote)
    else {
      await agent.reject(id, code: 486, phrase: "Busy Here")
      return
    }
    if !configuration.takesAnonymousCalls, SIPAddress.isAnonymous(address) {
      return await agent.reject(id, code: 433, phrase: "Anonymity Disallowed")
    }
    let rule: SecurityRule
    do {
      let claimed = SIPAddress(address)
      rule = try await self.rule(
        for: claimed,
        isSecureSignallingForced: claimed?.transport == .tls
      )
    } catch {
      continuation.yield(.error("a call from \(address) was refused: \(error)"))
      return await agent.reject(id, code: 480, phrase: "Temporarily Unavailable")
    }
    // Before anybody is disturbed.
    if let media = caller.media, let refusal = rule.refusal(of: media.claim) {
      continuation.yield(.error("a call was refused: \(refusal)"))
      return await agent.reject(id, code: 403, phrase: "Identity Not Accepted")
    }
    let deadline = MonotonicClock.now().advanced(
      byNanoseconds: Int64(provider.configuration.ringDuration * 1e9)
    )
    let uuid = UUID()
    var call = PhoneCall(incoming: uuid, from: address, sip: id, ringsUntil: deadline, rule)
    call.isByServer = caller.account != nil
    call.isByStranger = !caller.isKnown
    control.add(call)
    let leg = makeLeg(uuid, host: localHost)
    leg.isEncryptionRequired = rule.isEncryptionRequired
    leg.noteCaller(at: caller.source)
    calls[uuid] = LiveCall(leg, .caller(origin(of: caller)))
    let update = CXCallUpdate()
    update.remoteHandle = CXHandle(type: .generic, value: address)
    if let name = caller.displayName { update.localizedCallerName = name }
    do {
      try await provider.reportNewIncomingCall(with: uuid, update: update)
      let shown = provider.displayName(of: uuid) ?? address
      let from = shown == address ? address : "\(shown) <\(address)>"
      control.rename(uuid, to: from)
      continuation.yield(.incoming(uuid, from: from))
      beginPath(uuid, for: caller)
      if mayShowItself(to: caller, under: rule) { await beginHandshake(uuid, caller.media) }
      await answerReplacing(uuid, caller.replaced, caller.media)
    } catch {
      control.remove(uuid)
      await release(uuid)
      let isBlocked =
        (error as? CXErrorCodeIncomingCallError)?.code == .filteredByBlockList
      await agent.reject(
        id,
        code: isBlocked ? 603 : 480,
        phrase: isBlocked ? "Decline" : "Temporarily Unavailable"
      )
    }
  }

  // MARK: Blocking work

  // A thread that may block, for one job. Not one of the global queue's: there are as many as
  // processors, and tasks run on them; where there is one, everything would wait.
  nonisolated static var waitingRoom: DispatchQueue {
    DispatchQueue(label: "sidetone.waiting")
  }

  private func loadIdentity() async throws {
    peers = try await PeerBook.ofUser()
    identity = try await withCheckedThrowingContinuation { continuation in
      Self.waitingRoom.async {
        continuation.resume(
          with: Result { try IdentityFile(in: CallStore.defaultFolder).load() }
        )
      }
    }
  }

  nonisolated func note(_ report: HandshakeReport, of uuid: UUID) {
    inboxContinuation.yield(.handshake(uuid, report))
  }

  nonisolated func noteUnreachable(_ reason: String, of uuid: UUID) {
    inboxContinuation.yield(.unreachable(uuid, reason))
  }
}
