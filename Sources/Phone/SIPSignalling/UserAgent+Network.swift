import CLibre
import UDPTransport

/// Following the networks and addresses of the machine.
extension UserAgent {
  func watchNetwork() {
    guard network.fileDescriptor >= 0 else { return }
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe fd_listen(
      network.fileDescriptor,
      CInt(FD_READ),
      { _, context in
        guard let context = unsafe context else { return }
        let agent = unsafe Unmanaged<UserAgent>.fromOpaque(context).takeUnretainedValue()
        agent.assumeIsolated { $0.networkDidChange() }
      },
      context
    )
  }

  private func networkDidChange() {
    network.drain()
    addressTimer?.cancel()
    addressTimer = Task { [weak self] in
      // A cancelled sleep ends early, and so does its task.
      try? await Task.sleep(for: UserAgent.settlingPause)
      guard !Task.isCancelled else { return }
      await self?.followNetwork()
    }
  }

  // Another network was joined or left, or a tunnel was opened.
  func followNetwork() {
    guard !isStopping else { return }
    unsafe re_follow_name_servers(names)
    if network.takeSleep() { wakeAccounts() }
    followAccounts()
    if isEverywhere { followAddresses() }
  }

  func followAddresses() {
    let before = stacks.map(\.host)
    let hosts = Self.localHosts()
    // What a call came over stays for what the call has to say.
    for stack in stacks where !hosts.contains(stack.host) && !isInUse(stack) { stack.release() }
    stacks.removeAll { !hosts.contains($0.host) && !isInUse($0) }
    // An address that is not ready yet is tried again a second later.
    for host in hosts where !stacks.contains(where: { $0.host == host }) { try? listen(at: host) }
    if stacks.map(\.host) != before { continuation.yield(.listening(at: stacks.map(\.address))) }
  }

  static func localHosts() -> [String] {
    final class Found {
      var hosts: [String] = []
      var loopback: [String] = []
    }
    let found = Found()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    _ = unsafe re_each_local_address(
      { host, isLoopback, context in
        guard let host = unsafe host, let context = unsafe context else { return false }
        let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
        let text = unsafe String(cString: host)
        if isLoopback != 0 { found.loopback.append(text) } else { found.hosts.append(text) }
        return false
      },
      context
    )
    // The loopback address comes last: it is useless to other hosts.
    return found.hosts + found.loopback
  }
}
