import CLibre
public import CallSecurity
import UDPTransport

/// The accounts of a user agent.
extension UserAgent {
  /// Registers an account, and keeps it registered until the agent stops (RFC 3261 section 10).
  ///
  /// `SIPEvent.registration` reports its state. Does nothing if the agent has not started or
  /// already has the account.
  ///
  /// - Parameters:
  ///   - account: the account.
  ///   - identity: the certificate for TLS to the server.
  public func add(_ account: SIPAccount, identity: Identity) {
    guard isRunning, line(of: account.address) == nil else { return }
    let line = unsafe AccountLine(account, identity: identity, names: names, agent: self)
    lines.append(line)
    line.handle(.started)
  }

  /// Returns the line of an account, given by its address; nil if there is none.
  func line(of address: String) -> AccountLine? {
    lines.first { $0.account.address == address }
  }

  /// Returns the numeric address of this machine that leads to an account's server, and the
  /// transport; nil before a server was found.
  package func connection(of account: String) -> (localHost: String, transport: SIPTransport)? {
    guard let stack = line(of: account)?.stack, let server = stack.server else { return nil }
    return (stack.host, server.transport)
  }

  func handle(_ event: Registration.Event, of account: SIPAccount) {
    line(of: account.address)?.handle(event)
  }

  func watchMessages(of account: SIPAccount) {
    line(of: account.address)?.subscribeToMessages()
  }

  func sendKeepalive(of account: SIPAccount) {
    line(of: account.address)?.sendKeepalive()
  }

  /// Finds the servers of an account, and passes them to its line.
  func locate(for account: SIPAccount) async {
    let servers = await servers(of: account)
    if !Task.isCancelled { line(of: account.address)?.found(servers) }
  }

  private func servers(of account: SIPAccount) async -> [SIPServer] {
    var locator = account.service
    var generator = SystemRandomNumberGenerator()
    while let question = locator.question, !Task.isCancelled {
      switch question {
      case .namingAuthorities(let domain):
        let found = await unsafe ask(domain, type: DNS_TYPE_NAPTR) {
          unsafe ServerLocator.NamingAuthority($0)
        }
        locator.answer(found)
      case .services(let name):
        let found = await unsafe ask(name, type: DNS_TYPE_SRV) {
          unsafe ServerLocator.Service($0)
        }
        locator.answer(found, using: &generator)
      case .addresses(let host):
        locator.answer(addresses: await HostName.addresses(of: host))
      }
    }
    return locator.servers
  }

  /// Time for the name servers to answer a query.
  private static let namePatience = Duration.seconds(5)

  @unsafe
  private func ask<Record: Sendable>(
    _ name: String,
    type: Int,
    _ read: @escaping (re_location) -> Record
  ) async -> [Record] {
    let number = nextQuery
    nextQuery += 1
    let deadline = Task { [weak self] in
      // A cancelled sleep ends early, and so does its task.
      try? await Task.sleep(for: Self.namePatience)
      if !Task.isCancelled { await self?.cancelQuery(number) }
    }
    let records = await withCheckedContinuation { continuation in
      queries[number] = unsafe NameQuery(name, type: type, by: names) { found in
        continuation.resume(returning: unsafe found.map(read))
      }
    }
    deadline.cancel()
    queries[number] = nil
    return records
  }

  private func cancelQuery(_ number: Int) {
    queries[number]?.cancel()
  }

  /// Keeps a stack that no account uses any more until its calls have ended.
  ///
  /// It is not released at once, since libre may be handling a response that came by it.
  func retire(_ stack: SIPStack) {
    retired.append(stack)
  }

  /// Tells the far sides of a stack's calls that this machine has moved (RFC 3264 section 8.3.1).
  func moveCalls(of stack: SIPStack, hasMoved: Bool) {
    for call in calls.values where call.stack === stack {
      call.move(to: stack.host, addresses: pathHosts(stack.host), hasMoved: hasMoved)
    }
  }

  /// Registers all accounts anew after the machine has slept: servers and routers have forgotten
  /// it.
  func wakeAccounts() {
    for line in lines { line.reconnect(after: .networkChanged) }
  }

  /// Registers an account anew whose connection to its server is gone.
  func connectionWasLost(of account: SIPAccount) {
    line(of: account.address)?.reconnect(after: .connectionLost)
  }

  /// Registers accounts anew if their servers are reached from another address now, and releases
  /// retired stacks without calls.
  func followAccounts() {
    for stack in retired where !isInUse(stack) { stack.release() }
    retired.removeAll { !isInUse($0) }
    for line in lines { line.follow() }
  }

  /// Ends all registrations, and waits up to a second for the servers to answer.
  func leaveAccounts() async {
    for line in lines { line.leave() }
    for _ in 0..<50 where !lines.allSatisfy(\.hasLeft) {
      // A cancelled sleep ends early: the loop ends all the same.
      try? await Task.sleep(for: .milliseconds(20))
    }
  }

  func releaseAccounts() {
    for query in queries.values { query.cancel() }
    queries = [:]
    for line in lines { line.release() }
    lines = []
  }
}
