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
    guard let leg = calls[uuid]?.leg, leg.path == nil, let port = leg.checkPort else { return }
    let account = calls[uuid]?.account
    let path = await agent.openPath(
      port,
      leg.pathRequest(
        isOffering: isOffering,
        account: configuration.accounts.first { $0.address == account }
      )
    )
    // The call may have ended meanwhile.
    guard let path else { return }
    guard calls[uuid]?.leg === leg, leg.path == nil else { return await agent.closePath(path.id) }
    leg.path = path
  }

  /// Begins to collect the ICE candidates of an incoming call while it rings; `finishPath` waits
  /// for them.
  func beginPath(_ uuid: UUID, for caller: Caller) {
    guard caller.media?.addresses != nil else { return }
    calls[uuid]?.leg.checksPaths = true
    do {
      try open(uuid)
    } catch {
      // The answer will say so, should there be one.
      return
    }
    calls[uuid]?.pathTask = Task { await openPath(uuid, isOffering: false) }
  }

  func finishPath(_ uuid: UUID) async {
    await calls[uuid]?.pathTask?.value
  }
}
