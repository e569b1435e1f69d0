import Foundation
import SIPSignalling
import UDPTransport

/// The paths of calls' voice through routers (RFC 8445).
extension Phone {
  /// Collects the ICE candidates of a call through an account, or of one whose offer has
  /// candidates.
  ///
  /// It takes as long as name servers and the account's servers take, two seconds each at most.
  func openPath(_ uuid: UUID, isOffering: Bool) async {
    guard let leg = legs[uuid], leg.path == nil, let port = leg.checkPort else { return }
    let account = routes[uuid]?.account ?? origins[uuid]?.account
    let path = await agent.openPath(
      port,
      leg.pathRequest(
        isOffering: isOffering,
        account: configuration.accounts.first { $0.address == account }
      )
    )
    // The call may have ended meanwhile.
    guard let path else { return }
    guard legs[uuid] === leg, leg.path == nil else { return await agent.closePath(path.id) }
    leg.path = path
  }

  /// Begins to collect the ICE candidates of an incoming call while it rings; `finishPath` waits
  /// for them.
  func beginPath(_ uuid: UUID, for caller: Caller) {
    guard caller.media?.addresses != nil else { return }
    legs[uuid]?.checksPaths = true
    do {
      try open(uuid)
    } catch {
      // The answer will say so, should there be one.
      return
    }
    pathTasks[uuid] = Task { await openPath(uuid, isOffering: false) }
  }

  func finishPath(_ uuid: UUID) async {
    await pathTasks.removeValue(forKey: uuid)?.value
  }

  /// Closes the path of a call that is over.
  func closePath(_ uuid: UUID) async {
    pathTasks[uuid] = nil
    if let path = legs[uuid]?.path { await agent.closePath(path.id) }
  }
}
