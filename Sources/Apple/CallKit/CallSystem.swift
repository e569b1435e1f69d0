import AVFAudio
import CallScreen
import CallState
import DesktopServices
import Foundation
import Logging
import MediaCore
import RealTime
import Synchronization

/// The process's call system, which translates between `CallControl` and Apple's classes.
///
/// It passes requests and reports to `CallControl` and performs its effects; it decides nothing
/// itself.
///
/// **Thread safety:** everything runs on one private serial queue. Callers wait for it only where
/// they need an answer: `calls`, pending transactions and actions, and `invalidate`. Sound devices
/// are opened elsewhere; the longest waits are a look into the block list and half a second for the
/// end of the ringing.
///
/// **Life cycle:** one for each process, since a controller finds the provider without being given
/// it.
// SAFETY: all stored state is confined to `queue`.
package final class CallSystem: @unchecked Sendable {
  package static let shared = CallSystem()

  private let queue = DispatchQueue(label: "callkit.system")
  let completions = DispatchQueue(label: "callkit.completions")
  private let isOnQueue = DispatchSpecificKey<Bool>()

  private var audio: any AudioActivation = AVAudioSession.sharedInstance()
  private var others = ProgramCalls()
  var quiet = DesktopQuiet()
  var control = CallControl()
  private var mailboxes: [ProviderMailbox] = []
  private var observers: [WeakObserver] = []
  private var delivered: [ActionID: (action: CXAction, transaction: CXTransaction)] = [:]
  private var nextCompletion = 1
  /// The completion that messages to delegates wait for at the moment; nil for none.
  private var awaited: Int?
  private var timer: (any DispatchSourceTimer)?
  lazy var book = CallBook()
  private var presenters: [any CallPresenter] = []
  private var presented: CallPresentation?
  private var screen = ScreenChoice.undecided
  /// Calls that ended while the system's screen was being opened; nil at other times.
  private var unshown: [CallRecord]?

  private enum ScreenChoice {
    /// Undecided until the first call, or until a screen is added.
    case undecided
    case system
    /// The app's own screen, or one that was added.
    case app
  }

  private struct WeakObserver {
    weak var observer: CXCallObserver?
  }

  private init() {
    queue.setSpecific(key: isOnQueue, value: true)
    listen(to: audio)
    listen(to: others)
  }

  private func listen(to others: ProgramCalls) {
    others.watch { [weak self, weak others] call, isOver in
      guard let self else { return }
      verb { [self, weak others] in
        guard let others, others === self.others else { return }
        control.isBusyElsewhere = others.known.contains(where: \.isActive)
        for entry in observers { entry.observer?.notify(CXCall(call, hasEnded: isOver)) }
      }
    }
  }

  private func listen(to audio: any AudioActivation) {
    audio.whenAsked { [weak self] request in
      guard let self else { return }
      verb { [self] in
        switch request {
        case .makeWay: control.makeWayForOtherProgram(at: now)
        case .resume: control.takeBackFromOtherProgram(at: now)
        }
      }
    }
  }

  /// Runs `work` on the system's queue, after earlier work.
  func perform(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  private func read<Value>(_ work: () -> Value) -> Value {
    DispatchQueue.getSpecific(key: isOnQueue) == true ? work() : queue.sync(execute: work)
  }

  var now: Moment {
    Moment(instant: MonotonicClock.now(), date: CallDate(Date()))
  }

  /// Replaces the audio session; for tests, while there is no call.
  func use(_ audio: any AudioActivation) {
    perform { [self] in
      self.audio = audio
      listen(to: audio)
    }
  }

  /// Replaces the view of other programs' calls; for tests, while there is no call.
  func use(_ others: ProgramCalls) {
    perform { [self] in
      self.others = others
      control.isBusyElsewhere = false
    }
    listen(to: others)
  }

  /// Replaces the view of the desktop's wish for quiet; for tests, while there is no call.
  func use(_ quiet: DesktopQuiet) {
    perform { [self] in self.quiet = quiet }
  }

  // MARK: Providers and observers

  func register(_ provider: CXProvider) {
    let crossing = UncheckedTransfer(value: provider)
    perform { [self] in
      others.start()
      quiet.start()
      let provider = crossing.value
      let id = control.addProvider(provider.configuration.settings)
      mailboxes.append(ProviderMailbox(provider: provider, id: id))
    }
  }

  func setDelegate(
    _ delegate: (any CXProviderDelegate)?,
    of provider: CXProvider,
    queue: DispatchQueue?
  ) {
    let crossing = UncheckedTransfer(value: (provider, delegate))
    perform { [self] in
      guard let mailbox = mailbox(of: crossing.value.0) else { return }
      mailbox.setDelegate(crossing.value.1, queue: queue)
    }
  }

  func add(observer: CXCallObserver) {
    let crossing = UncheckedTransfer(value: WeakObserver(observer: observer))
    perform { [self] in
      others.start()
      observers.removeAll { $0.observer == nil }
      observers.append(crossing.value)
    }
  }

  func add(presenter: any CallPresenter) {
    perform { [self] in
      if screen == .undecided { screen = .app }
      presenters.append(presenter)
      presenter.present(control.presentation)
    }
  }

  /// Removes the system's call screen, if it is open, and opens none from now on.
  func useOwnScreen() {
    perform { [self] in
      if screen == .system {
        // What it shows goes.
        for presenter in presenters { presenter.present(CallControl().presentation) }
        presenters = []
      }
      screen = .app
    }
  }

  // The bus may keep its caller waiting.
  private func openSystemScreen() {
    screen = .system
    unshown = []
    add(presenter: Ringer())
    DispatchQueue.global().async { [self] in
      let screen = Desktop.callScreen(
        decide: { [self] in decide($0) },
        callBack: DesktopRequests.callBack,
        offersCallBack: { DesktopRequests.isReceived },
        cannotShow: { reason in
          Logger(label: "org.sidetone.callkit").notice("calls are not shown: \(reason)")
        }
      )
      perform { [self] in
        let ended = unshown ?? []
        unshown = nil
        guard self.screen == .system, let screen else { return }
        presenters.append(screen)
        screen.present(control.presentation)
        for record in ended { screen.present(ended: record) }
      }
    }
  }

  func setRemark(_ remark: String?, of uuid: UUID) {
    perform { [self] in control.setRemark(remark, of: CallID(uuid)) }
  }

  /// Calls of this program and of the user's other programs; the first use waits for the bus.
  var calls: [CXCall] {
    let (own, others) = read { (control.snapshots, self.others) }
    return own.map { CXCall($0) } + others.calls.map { CXCall($0, hasEnded: false) }
  }

  /// True while a call has the audio session or is about to get it; for tests.
  package var hasAudio: Bool { read { control.audio != .inactive } }

  func remove(presenter: any CallPresenter) {
    perform { [self] in presenters.removeAll { $0 === presenter } }
  }

  func displayName(of uuid: UUID) -> String? {
    read { control.presentation.calls.first { $0.id == CallID(uuid) }?.details.displayName }
  }

  func pendingTransactions(of provider: CXProvider) -> [CXTransaction] {
    let crossing = UncheckedTransfer(value: provider)
    return read {
      var seen: [CXTransaction] = []
      guard let id = mailbox(of: crossing.value)?.id else { return UncheckedTransfer(value: seen) }
      for action in control.pendingActions where action.provider == id {
        guard let transaction = delivered[action.id]?.transaction,
          !seen.contains(where: { $0 === transaction })
        else { continue }
        seen.append(transaction)
      }
      return UncheckedTransfer(value: seen)
    }.value
  }

  func pendingActions(of provider: CXProvider) -> [CXAction] {
    let crossing = UncheckedTransfer(value: provider)
    return read {
      let id = mailbox(of: crossing.value)?.id
      let pending = control.pendingActions.filter { $0.provider == id }
      return UncheckedTransfer(value: pending.compactMap { delivered[$0.id]?.action })
    }.value
  }

  func mailbox(of provider: CXProvider) -> ProviderMailbox? {
    mailboxes.first { $0.provider === provider }
  }

  // MARK: Verbs

  func request(
    _ transaction: CXTransaction,
    starting starter: CXProvider? = nil,
    queue completionQueue: DispatchQueue,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    // What the app does to the transaction from now on does not count.
    let objects = transaction.actions
    let crossing = UncheckedTransfer(value: (transaction, objects, starter))
    let requests = objects.map(\.request)
    verb { [self] in
      let (transaction, objects, starter) = crossing.value
      let refusal = accept(requests, of: transaction, objects, starting: starter)
      complete(on: completionQueue, completion, with: refusal)
    }
  }

  private func accept(
    _ requests: [ActionRequest],
    of transaction: CXTransaction,
    _ objects: [CXAction],
    starting starter: CXProvider?
  ) -> CXErrorCodeRequestTransactionError? {
    do throws(TransactionRefusal) {
      let id = starter.flatMap { mailbox(of: $0)?.id }
      guard starter == nil || id != nil else { throw .unknownCallProvider }
      let actions = try control.request(requests, startingWith: id, at: now)
      for (action, object) in zip(actions, objects) {
        object.markDelivered(as: action.id)
        delivered[action.id] = (object, transaction)
      }
      return nil
    } catch {
      return .init(refusal: error)
    }
  }

  // Observers hear of a success first, then the completion runs, then delegates hear of it (R19).
  func complete(
    on completionQueue: DispatchQueue,
    about calls: Set<CallID> = [],
    of reporting: ProviderMailbox? = nil,
    _ completion: @escaping @Sendable ((any Error)?) -> Void,
    with error: (any Error)?
  ) {
    let number = nextCompletion
    nextCompletion += 1
    if error == nil {
      awaited = number
      // What follows about a reported call comes after its completion as well.
      if !calls.isEmpty { reporting?.post({ _, _ in }, about: calls, after: number) }
    }
    drain()
    awaited = nil
    completionQueue.async { [self] in
      completion(error)
      perform { [self] in for mailbox in mailboxes { mailbox.lift(number) } }
    }
  }

  func answer(_ action: ActionID, isFulfilled: Bool, date: Date?) {
    verb { [self] in
      control.answer(action, isFulfilled: isFulfilled, date: date.map { CallDate($0) }, at: now)
    }
  }

  /// Applies a report of a provider's app, unless it is no longer valid.
  func report(
    of provider: CXProvider,
    _ body: @escaping @Sendable (inout CallControl, ProviderID, Moment) -> Void
  ) {
    let crossing = UncheckedTransfer(value: provider)
    verb { [self] in
      if let id = mailbox(of: crossing.value)?.id { body(&control, id, now) }
    }
  }

  func invalidate(_ provider: CXProvider) {
    let crossing = UncheckedTransfer(value: provider)
    verb { [self] in
      guard let mailbox = mailbox(of: crossing.value) else { return }
      mailbox.close()
      control.invalidate(mailbox.id, at: now)
      drain()
      mailboxes.removeAll { $0 === mailbox }
    }
    // A process may end right after this (R30).
    read { UncheckedTransfer(value: self.book) }.value.flush()
  }

  /// Voids every call and action, as if the system's own state were lost (R32).
  func reset() {
    verb { [self] in control.reset(at: now) }
  }

  /// Carries out a decision that the user made on the call screen.
  func decide(_ decision: UserDecision) {
    verb { [self] in control.decide(decision, at: now) }
  }

  // MARK: Effects

  // Every change goes this way: what the app changed meanwhile is taken in, and the effects are
  // performed.
  func verb(_ body: @escaping @Sendable () -> Void) {
    perform { [self] in
      for mailbox in mailboxes {
        control.configure(mailbox.id, mailbox.provider.configuration.settings)
        control.setHasDelegate(mailbox.id, mailbox.hasDelegate)
      }
      body()
      drain()
    }
  }

  private func drain() {
    // A delegate that receives a deactivation may ask for the session at once.
    audio.setWithheldByCalls(control.isSessionWithheld)
    while let effect = control.nextEffect() { perform(effect) }
    audio.setWithheldByCalls(control.isSessionWithheld)
    others.publish(control.snapshots.map(\.programCall))
    schedule()
    present()
  }

  private func present() {
    let presentation = control.presentation
    if screen == .undecided, !presentation.calls.isEmpty { openSystemScreen() }
    guard !presenters.isEmpty else { return }
    guard presentation != presented else { return }
    presented = presentation
    for presenter in presenters { presenter.present(presentation) }
  }

  private func show(_ record: CallRecord) {
    unshown?.append(record)
    for presenter in presenters { presenter.present(ended: record) }
  }

  private func perform(_ effect: CallControl.Effect) {
    switch effect {
    case .deliver(let actions):
      deliver(actions)
    case .timedOut(let action):
      guard let object = delivered[action.id]?.action else { return }
      object.markTimedOut()
      let crossing = UncheckedTransfer(value: object)
      tell(action.provider, about: [action.call]) {
        $1.provider($0, timedOutPerforming: crossing.value)
      }
    case .finished(let action, _):
      delivered.removeValue(forKey: action.id)?.action.markComplete()
    case .callChanged(let snapshot):
      for entry in observers { entry.observer?.notify(CXCall(snapshot)) }
    case .activateAudio(let provider):
      // A ringtone gives its device up before the call wants it.
      present()
      activateAudio(for: provider)
    case .deactivateAudio(let provider, .afterGraceTime):
      audio.deactivateForCall(keepingDevices: true) {}
      tellDeactivation(to: provider)
    case .deactivateAudio(let provider, .atOnce):
      // The last call has ended: its provider may use the devices as soon as it is notified.
      audio.deactivateForCall(keepingDevices: false) { [self] in
        perform { [self] in tellDeactivation(to: provider) }
      }
    case .audioActivated(let provider):
      tell(provider) { $1.provider($0, didActivate: .sharedInstance()) }
    case .giveBack:
      audio.giveBack()
    case .didReset(let provider):
      tell(provider) { $1.providerDidReset($0) }
    case .recorded(let record):
      book.add(record)
      show(record)
    }
  }

  private func deliver(_ actions: [CallAction]) {
    guard let first = actions.first else { return }
    let objects = actions.map { delivered[$0.id]?.action ?? CXAction.object(for: $0) }
    let requested = delivered[first.id]?.transaction
    let isWhole = requested?.actions.elementsEqual(objects, by: ===) ?? false
    let transaction = isWhole ? requested ?? CXTransaction() : CXTransaction(actions: objects)
    for (action, object) in zip(actions, objects) {
      object.markDelivered(as: action.id)
      delivered[action.id] = (object, transaction)
    }
    let crossing = UncheckedTransfer(value: (transaction, objects))
    tell(first.provider, about: Set(actions.map(\.call))) { provider, delegate in
      let (transaction, objects) = crossing.value
      // What has become void on its way is not performed.
      guard objects.contains(where: \.isToBePerformed),
        !delegate.provider(provider, execute: transaction)
      else { return }
      for action in objects where action.isToBePerformed {
        delegate.perform(action, for: provider)
      }
    }
  }

  private func tellDeactivation(to provider: ProviderID?) {
    guard let provider else { return }
    tell(provider) { $1.provider($0, didDeactivate: .sharedInstance()) }
  }

  private func activateAudio(for provider: ProviderID) {
    audio.activateForCall { [self] error in
      verb { [self] in
        guard let error else { return control.audioActivated() }
        guard control.audioActivationFailed(at: now) else { return }
        tell(provider) { $1.provider($0, failedToActivate: .sharedInstance(), error: error) }
      }
    }
  }

  private func tell(
    _ provider: ProviderID,
    about calls: Set<CallID> = [],
    _ message: @escaping ProviderMailbox.Message
  ) {
    mailboxes.first { $0.id == provider }?.post(message, about: calls, after: awaited)
  }

  private func schedule() {
    timer?.cancel()
    timer = nil
    guard let deadline = control.nextDeadline else { return }
    let wait = max(0, deadline.nanoseconds(since: MonotonicClock.now()))
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .nanoseconds(Int(clamping: wait)))
    timer.setEventHandler { [self] in verb { [self] in control.advance(to: now) } }
    timer.resume()
    self.timer = timer
  }
}
