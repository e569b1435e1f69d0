/// Limit to the checks sent to hosts that do not answer.
///
/// A description may name a stranger's host, by many ports, and name another one after each restart
/// (RFC 8445 section 19.5.1). A far side can also forge the source of a request that it signs: that
/// earns one check and no more (`CandidatePair.isOwedCheck`). A response is a proof, since only a
/// receiver of the check knows its transaction. A budget lives as long as the call.
struct CheckBudget: Equatable, Sendable {
  /// Most checks to one host before one of them is answered.
  static let checks = 50
  /// Most hosts that are tried.
  static let hosts = 64

  private var sent: [String: Int] = [:]
  private var answering: Set<String> = []

  /// Counts a check to a host if one more may be sent there; false if not.
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
