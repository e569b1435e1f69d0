import Foundation

/// The app's own record of a call, named as on the documentation page *CallKit in Xamarin.iOS*.
///
/// It knows nothing of CallKit. The `ProviderDelegate` calls it when an action is to be performed,
/// and is called back when the network reports something.
@MainActor
final class ActiveCall {
  let uuid: UUID
  let isOutgoing: Bool
  let handle: String
  /// Connection that carries the call; the documentation page simulates it with timers.
  let connection: CallConnection

  private(set) var startedConnectingOn: Date?
  private(set) var connectedOn: Date?
  private(set) var endedOn: Date?
  private(set) var isOnHold = false
  private(set) var isMuted = false

  /// Called when `startedConnectingOn` has been set.
  var startingConnectionChanged: (() -> Void)?
  /// Called when `connectedOn` has been set.
  var connectedChanged: (() -> Void)?
  /// Called when the far side has ended the call.
  var endedByFarSide: (() -> Void)?

  init(uuid: UUID, handle: String, isOutgoing: Bool, connection: CallConnection) {
    self.uuid = uuid
    self.handle = handle
    self.isOutgoing = isOutgoing
    self.connection = connection
    connection.ringing = { [weak self] in self?.didStartConnecting() }
    connection.connected = { [weak self] in self?.didConnect() }
    connection.ended = { [weak self] in self?.endedByFarSide?() }
  }

  var isConnected: Bool { connectedOn != nil }
  var hasEnded: Bool { endedOn != nil }

  // MARK: What actions ask for

  /// Invites the far side; false if the invitation could not be sent.
  func startCall() async -> Bool { await connection.dial(handle) }

  /// Accepts the far side's invitation; false if the far side has gone.
  func answerCall() async -> Bool { await connection.accept() }

  func endCall() {
    connection.hangUp()
    didEnd()
  }

  func setOnHold(_ isOnHold: Bool) {
    self.isOnHold = isOnHold
    connection.setHeld(isOnHold)
  }

  func setMuted(_ isMuted: Bool) {
    self.isMuted = isMuted
    connection.setMuted(isMuted)
  }

  // MARK: What the network reports

  private func didStartConnecting() {
    guard startedConnectingOn == nil else { return }
    startedConnectingOn = Date()
    startingConnectionChanged?()
  }

  private func didConnect() {
    guard connectedOn == nil else { return }
    connectedOn = Date()
    connectedChanged?()
  }

  func didEnd() {
    if endedOn == nil { endedOn = Date() }
  }
}
