import AVFAudio
import CallState
import Foundation
import MediaTime
import RealTime

/// The process's call system: feeds `CallControl`, performs its effects, and translates between it and
/// Apple's classes. It decides nothing.
///
/// **Thread safety:** everything runs on one private serial queue; callers never wait except for
/// `calls` and `pendingTransactions`. **Life cycle:** one for each process, since a controller finds
/// the provider without being given it.
// SAFETY: all stored state is confined to `queue`.
final class CallSystem: @unchecked Sendable {
  static let shared = CallSystem()

  private let queue = DispatchQueue(label: "callkit.system")
  private let completions = DispatchQueue(label: "callkit.completions")
  private let isOnQueue = DispatchSpecificKey<Bool>()

  private var control = CallControl()
  private var provider: CXProvider?
  private weak var delegate: (any CXProviderDelegate)?
  private var delegateQueue = DispatchQueue.main
  private var givenQueue: DispatchQueue?
  private var hasBegun = false
  private var observers: [WeakObserver] = []
  private var delivered: [ActionID: (action: CXAction, transaction: CXTransaction)] = [:]
  private var undelivered: [@Sendable () -> Void] = []
  private var timer: (any DispatchSourceTimer)?

  private struct WeakObserver {
    weak var observer: CXCallObserver?
  }

  private init() {
    queue.setSpecific(key: isOnQueue, value: true)
  }

  /// Runs `work` on the system's queue, after what was asked before.
  func perform(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  private func read<Value>(_ work: () -> Value) -> Value {
    DispatchQueue.getSpecific(key: isOnQueue) == true ? work() : queue.sync(execute: work)
  }

  // MARK: Providers and observers

  func register(_ provider: CXProvider, maximumCallGroups: Int) {
    let crossing = Crossing(value: provider)
    perform { [self] in
      if self.provider != nil, !control.isInvalid {
        control.invalidate()
        drain()
      }
      undelivered.removeAll()
      control = CallControl(numberingActionsAfter: control)
      control.maximumCallGroups = maximumCallGroups
      self.provider = crossing.value
      delegate = nil
      hasBegun = false
    }
  }

  func setDelegate(
    _ delegate: (any CXProviderDelegate)?,
    of provider: CXProvider,
    queue: DispatchQueue?
  ) {
    let crossing = Crossing(value: (provider, delegate))
    perform { [self] in
      guard self.provider === crossing.value.0 else { return }
      self.delegate = crossing.value.1
      delegateQueue = queue ?? .main
      givenQueue = queue
      guard self.delegate != nil else { return }
      if !hasBegun {
        hasBegun = true
        tellDelegate { $1.providerDidBegin($0) }
      }
      let waiting = undelivered
      undelivered.removeAll()
      for work in waiting { work() }
    }
  }

  func add(observer: CXCallObserver) {
    let crossing = Crossing(value: WeakObserver(observer: observer))
    perform { [self] in
      observers.removeAll { $0.observer == nil }
      observers.append(crossing.value)
    }
  }

  var calls: [CXCall] {
    read { Crossing(value: control.snapshots.map { CXCall($0) }) }.value
  }

  var pendingTransactions: [CXTransaction] {
    read {
      var seen: [CXTransaction] = []
      for action in control.pendingActions {
        guard let transaction = delivered[action.id]?.transaction,
          !seen.contains(where: { $0 === transaction })
        else { continue }
        seen.append(transaction)
      }
      return Crossing(value: seen)
    }.value
  }

  // MARK: Verbs

  func request(
    _ transaction: CXTransaction,
    queue completionQueue: DispatchQueue,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let crossing = Crossing(value: transaction)
    perform { [self] in
      let transaction = crossing.value
      let refusal = accept(transaction)
      completionQueue.async { completion(refusal) }
      drain()
    }
  }

  private func accept(_ transaction: CXTransaction) -> CXErrorCodeRequestTransactionError? {
    guard !transaction.actions.isEmpty else { return .init(.emptyTransaction) }
    guard provider != nil else { return .init(.unknownCallProvider) }
    let requests = transaction.actions.compactMap(\.request)
    guard requests.count == transaction.actions.count else { return .init(.invalidAction) }
    do throws(TransactionRefusal) {
      let actions = try control.request(requests, at: MonotonicClock.now())
      for (action, object) in zip(actions, transaction.actions) {
        object.markDelivered(as: action.id)
        delivered[action.id] = (object, transaction)
      }
      return nil
    } catch {
      return .init(refusal: error)
    }
  }

  func answer(_ action: ActionID, isFulfilled: Bool) {
    perform { [self] in
      control.answer(action, isFulfilled: isFulfilled, at: MonotonicClock.now())
      drain()
    }
  }

  func reportIncoming(
    _ uuid: UUID,
    to provider: CXProvider,
    completion: @escaping @Sendable ((any Error)?) -> Void
  ) {
    let crossing = Crossing(value: provider)
    perform { [self] in
      var refusal: CXErrorCodeIncomingCallError?
      if self.provider === crossing.value {
        do throws(IncomingRefusal) {
          try control.reportIncoming(CallID(uuid), at: MonotonicClock.now())
        } catch {
          refusal = .init(refusal: error)
        }
      } else {
        refusal = .init(.unknown)
      }
      let answer = refusal
      (givenQueue ?? completions).async { completion(answer) }
      drain()
    }
  }

  func reportConnecting(_ uuid: UUID) {
    perform { [self] in
      control.reportConnecting(CallID(uuid))
      drain()
    }
  }

  func reportConnected(_ uuid: UUID) {
    perform { [self] in
      control.reportConnected(CallID(uuid))
      drain()
    }
  }

  func reportEnded(_ uuid: UUID) {
    perform { [self] in
      control.reportEnded(CallID(uuid), at: MonotonicClock.now())
      drain()
    }
  }

  func invalidate(_ provider: CXProvider) {
    let crossing = Crossing(value: provider)
    perform { [self] in
      guard self.provider === crossing.value else { return }
      delegate = nil
      control.invalidate()
      drain()
      undelivered.removeAll()
      self.provider = nil
    }
  }

  /// Voids every call and action, as when the system's own state is lost (R32).
  func reset() {
    perform { [self] in
      control.reset()
      drain()
    }
  }

  // MARK: Effects

  private func drain() {
    while let effect = control.nextEffect() {
      switch effect {
      case .perform(let action):
        deliver(action)
      case .timedOut(let action):
        guard let object = delivered[action.id]?.action else { continue }
        let crossing = Crossing(value: object)
        tellDelegate { $1.provider($0, timedOutPerforming: crossing.value) }
      case .finished(let action, _):
        delivered.removeValue(forKey: action.id)?.action.markComplete()
      case .callChanged(let snapshot):
        for entry in observers { entry.observer?.notify(CXCall(snapshot)) }
      case .activateAudio:
        activateAudio()
      case .deactivateAudio:
        AVAudioSession.sharedInstance().deactivateForCall()
        tellDelegate { $1.provider($0, didDeactivate: .sharedInstance()) }
      case .didReset:
        tellDelegate { $1.providerDidReset($0) }
      }
    }
    schedule()
  }

  // A transaction is delivered when its first action is; the system's own actions get one each.
  private func deliver(_ action: CallAction) {
    if delivered[action.id] == nil {
      let object = Self.object(for: action)
      object.markDelivered(as: action.id)
      delivered[action.id] = (object, CXTransaction(action: object))
    }
    guard let (object, transaction) = delivered[action.id], transaction.actions.first === object
    else { return }
    let crossing = Crossing(value: transaction)
    tellDelegate { provider, delegate in
      guard !delegate.provider(provider, execute: crossing.value) else { return }
      for action in crossing.value.actions {
        switch action {
        case let action as CXStartCallAction: delegate.provider(provider, perform: action)
        case let action as CXAnswerCallAction: delegate.provider(provider, perform: action)
        case let action as CXEndCallAction: delegate.provider(provider, perform: action)
        case let action as CXSetMutedCallAction: delegate.provider(provider, perform: action)
        default: action.fail()
        }
      }
    }
  }

  private static func object(for action: CallAction) -> CXAction {
    let uuid = action.call.uuid
    switch action.kind {
    case .start: return CXStartCallAction(call: uuid, handle: CXHandle(type: .generic, value: ""))
    case .answer: return CXAnswerCallAction(call: uuid)
    case .end: return CXEndCallAction(call: uuid)
    case .setMuted(let isMuted): return CXSetMutedCallAction(call: uuid, muted: isMuted)
    }
  }

  private func activateAudio() {
    let session = AVAudioSession.sharedInstance()
    do {
      try session.activateForCall()
      tellDelegate { $1.provider($0, didActivate: .sharedInstance()) }
    } catch {
      let crossing = Crossing(value: error)
      tellDelegate {
        $1.provider($0, failedToActivate: .sharedInstance(), error: crossing.value)
      }
      control.audioActivationFailed(at: MonotonicClock.now())
    }
  }

  // What comes before there is a delegate waits for it (R28).
  private func tellDelegate(
    _ work: @escaping @Sendable (CXProvider, any CXProviderDelegate) -> Void
  ) {
    guard let provider else { return }
    guard let delegate else {
      undelivered.append { [self] in tellDelegate(work) }
      return
    }
    let crossing = Crossing(value: (provider, delegate))
    delegateQueue.async { work(crossing.value.0, crossing.value.1) }
  }

  private func schedule() {
    timer?.cancel()
    timer = nil
    guard let deadline = control.nextDeadline else { return }
    let wait = max(0, deadline.nanoseconds(since: MonotonicClock.now()))
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + .nanoseconds(Int(clamping: wait)))
    timer.setEventHandler { [self] in
      control.advance(to: MonotonicClock.now())
      drain()
    }
    timer.resume()
    self.timer = timer
  }
}
