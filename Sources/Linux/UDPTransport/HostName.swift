import CLinux
import Dispatch
import Glibc

/// The addresses of host names, as the machine's resolver knows them.
package enum HostName {
  /// The numeric addresses of a host, IPv4 before IPv6; empty if it is not known.
  ///
  /// Name resolution may take seconds: it waits on a thread of its own, not on one of the global
  /// queues' threads, on which tasks run.
  package static func addresses(of host: String) async -> [String] {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "sidetone.names").async {
        continuation.resume(returning: resolve(host))
      }
    }
  }

  /// The numeric addresses of a host, IPv4 before IPv6; empty if it is not known, or if the
  /// resolution takes longer than `patience`.
  package static func addresses(of host: String, within patience: Duration) async -> [String] {
    let (answers, continuation) = AsyncStream<[String]>.makeStream()
    let timer = Task {
      // A cancelled sleep ends early: the answer is there.
      try? await Task.sleep(for: patience)
      continuation.yield([])
    }
    Task { continuation.yield(await addresses(of: host)) }
    defer { timer.cancel() }
    return await answers.first { _ in true } ?? []
  }

  private static func resolve(_ host: String) -> [String] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { unsafe freeaddrinfo(first) }
    var found: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
      let address = unsafe numeric(entry.pointee.ai_addr, entry.pointee.ai_addrlen)
      if let address, !found.contains(address) { found.append(address) }
      unsafe next = unsafe entry.pointee.ai_next
    }
    return found.filter { !$0.contains(":") } + found.filter { $0.contains(":") }
  }

  /// The numeric text of an address; nil if it has none.
  @unsafe
  static func numeric(_ address: UnsafePointer<sockaddr>?, _ length: socklen_t) -> String? {
    var text = [CChar](repeating: 0, count: 64)
    let code = unsafe getnameinfo(
      address,
      length,
      &text,
      socklen_t(text.count),
      nil,
      0,
      NI_NUMERICHOST
    )
    guard code == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
