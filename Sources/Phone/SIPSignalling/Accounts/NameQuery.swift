import CLibre
import Dispatch
import Glibc

/// One question to the name servers, by libre.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// libre holds an unretained pointer to it, which ends with the answer or with `cancel`.
@safe
final class NameQuery {
  private let query = LibreSlot()
  private var completion: (([re_location]) -> Void)?
  private let type: UInt16

  /// An answer has more records only to do harm.
  private static let capacity = 32

  /// Asks for records of a type; `completion` is called once, with what was found while its texts
  /// are in place.
  @unsafe
  init(
    _ name: String,
    type: Int,
    by client: OpaquePointer?,
    completion: @escaping ([re_location]) -> Void
  ) {
    self.type = UInt16(type)
    unsafe self.completion = completion
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    let code =
      unsafe client == nil
      ? ENOENT
      : dnsc_query(
        query.place,
        client,
        name,
        self.type,
        UInt16(DNS_CLASS_IN),
        true,
        { _, _, answers, _, _, context in
          guard let context = unsafe context else { return }
          unsafe Unmanaged<NameQuery>.fromOpaque(context).takeUnretainedValue().answer(answers)
        },
        context
      )
    if code != 0 { cancel() }
  }

  deinit {
    query.clear()
  }

  /// Ends the question without an answer; nothing if there was one.
  func cancel() {
    query.clear()
    let completion = unsafe completion
    unsafe self.completion = nil
    unsafe completion?([])
  }

  private func answer(_ answers: UnsafeMutablePointer<list>?) {
    var records = unsafe [re_location](repeating: re_location(), count: Self.capacity)
    let count = unsafe re_locations(answers, type, &records, records.count)
    let completion = unsafe completion
    unsafe self.completion = nil
    unsafe completion?(Array(records.prefix(count)))
  }

  /// The numeric addresses of a host, as the machine's resolver knows it.
  static func addresses(of host: String) async -> [String] {
    await withCheckedContinuation { continuation in
      // A thread that may block for this job alone.
      DispatchQueue(label: "sidetone.names").async {
        continuation.resume(returning: resolve(host))
      }
    }
  }

  private static func resolve(_ host: String) -> [String] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
    unsafe hints.ai_flags = AI_ADDRCONFIG
    var first: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
    defer { unsafe freeaddrinfo(first) }
    var found: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
      var text = [CChar](repeating: 0, count: 64)
      let code = unsafe getnameinfo(
        entry.pointee.ai_addr,
        entry.pointee.ai_addrlen,
        &text,
        socklen_t(text.count),
        nil,
        0,
        NI_NUMERICHOST
      )
      let address = String(cStringBytes: text)
      if code == 0, !found.contains(address) { found.append(address) }
      unsafe next = unsafe entry.pointee.ai_next
    }
    return found
  }
}
