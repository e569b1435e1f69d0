/// How many checks go to hosts that do not answer.
///
/// A description may name a stranger's host, by many ports, and name another one after each restart
/// (RFC 8445 section 19.5.1). A far side can also forge the source of a request that it signs: that
/// earns one check and no more (`CandidatePair.isOwedCheck`). A response is a proof, since only who
/// has received a check knows its transaction. A budget lives as long as the call.
struct CheckBudget: Equatable, Sendable {
  /// Checks to one host before one of them is answered.
  static let checks = 25
  /// Hosts that are tried.
  static let hosts = 64

  private var sent: [String: Int] = [:]
  private var answering: Set<String> = []

  /// True if one more check may go to a host, which is counted then.
  mutating func take(_ host: String) -> Bool {
    if answering.contains(host) { return true }
    let count = sent[host] ?? 0
    guard count < Self.checks, count > 0 || sent.count < Self.hosts else { return false }
    sent[host] = count + 1
    return true
  }

  /// Notes that a host has answered a check.
  mutating func noteAnswer(from host: String) {
    guard answering.count < Self.hosts else { return }
    answering.insert(host)
  }
}
