import CallKit

/// What carries a call over the network: the app's own signalling and media.
protocol CallLine: AnyObject {
  /// Invites the far side; the completion says whether the invitation was sent.
  func dial(_ call: ActiveCall, completion: @escaping (Bool) -> Void)
  /// Accepts the far side's invitation; the completion says whether both sides can talk.
  func accept(_ call: ActiveCall, completion: @escaping (Bool) -> Void)
  func hangUp(_ call: ActiveCall)
  func setHeld(_ call: ActiveCall, _ isOnHold: Bool)
  func setMuted(_ call: ActiveCall, _ isMuted: Bool)
  func startAudio(for call: ActiveCall)
  func stopAudio(for call: ActiveCall)
}

/// A call as the app keeps it.
final class ActiveCall {
  let uuid: UUID
  let isOutgoing: Bool
  let handle: String

  /// Told when something about the call has changed.
  var stateDidChange: (() -> Void)?

  private(set) var startedConnectingDate: Date?
  private(set) var connectDate: Date?
  private(set) var endDate: Date?
  private(set) var isOnHold = false
  private(set) var isMuted = false

  private weak var line: (any CallLine)?

  init(uuid: UUID, isOutgoing: Bool, handle: String, line: any CallLine) {
    self.uuid = uuid
    self.isOutgoing = isOutgoing
    self.handle = handle
    self.line = line
  }

  var hasConnected: Bool { connectDate != nil }
  var hasEnded: Bool { endDate != nil }
  var duration: TimeInterval { connectDate.map { Date().timeIntervalSince($0) } ?? 0 }

  // MARK: What the user wants

  func start(completion: @escaping (Bool) -> Void) {
    guard let line else { return completion(false) }
    line.dial(self, completion: completion)
  }

  func answer(completion: @escaping (Bool) -> Void) {
    guard let line else { return completion(false) }
    line.accept(self, completion: completion)
  }

  func end() {
    line?.hangUp(self)
    didEnd()
  }

  func setHeld(_ isOnHold: Bool) {
    self.isOnHold = isOnHold
    line?.setHeld(self, isOnHold)
    stateDidChange?()
  }

  func setMuted(_ isMuted: Bool) {
    self.isMuted = isMuted
    line?.setMuted(self, isMuted)
    stateDidChange?()
  }

  func startAudio() {
    guard !isOnHold, !hasEnded else { return }
    line?.startAudio(for: self)
  }

  func stopAudio() {
    line?.stopAudio(for: self)
  }

  // MARK: What the network tells

  func didStartConnecting() {
    startedConnectingDate = Date()
    stateDidChange?()
  }

  func didConnect() {
    guard connectDate == nil else { return }
    connectDate = Date()
    stateDidChange?()
  }

  func didEnd() {
    guard endDate == nil else { return }
    endDate = Date()
    stateDidChange?()
  }
}
