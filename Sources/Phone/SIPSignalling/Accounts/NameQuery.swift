import CLibre
import Glibc

/// One DNS query, made by libre.
///
/// **Thread safety:** the event loop's thread only; libre's callbacks run there too. **Ownership:**
/// libre holds an unretained pointer to it, which ends with the answer or with `cancel`.
@safe
final class NameQuery {
  private let query = LibreSlot()
  private var completion: (([re_location]) -> Void)?
  private let type: UInt16

  /// Maximum number of records that are read; only a malicious answer has more.
  private static let capacity = 32

  /// Queries the DNS for records of a type; `completion` gets those found, none after a failure,
  /// and must not keep their texts.
  ///
  /// It is called once at most: before this returns if the query cannot be sent, and never if the
  /// object is released first.
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

  /// Ends the query as if no record had been found; does nothing if there was an answer.
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
}

extension ServerLocator.NamingAuthority {
  /// Copies a record of libre's, whose texts must still be valid.
  @unsafe
  init(_ record: re_location) {
    unsafe self.init(
      order: Int(record.order),
      preference: Int(record.preference),
      flags: record.flags.map { unsafe String(cString: $0) } ?? "",
      service: record.service.map { unsafe String(cString: $0) } ?? "",
      replacement: record.name.map { unsafe String(cString: $0) } ?? ""
    )
  }
}

extension ServerLocator.Service {
  /// Copies a record of libre's, whose texts must still be valid.
  @unsafe
  init(_ record: re_location) {
    unsafe self.init(
      priority: Int(record.priority),
      weight: Int(record.weight),
      port: record.port,
      target: record.name.map { unsafe String(cString: $0) } ?? ""
    )
  }
}
