package import CLibre
import Glibc
import MediaCore
import RealTime
import Synchronization

/// A request in the form for a strict router (RFC 2543), which expects its own URI in the request
/// line, and the far side's address as the last route (RFC 3261 section 12.2.1.1).
struct StrictRoute: Equatable {
  /// Address for the request line.
  let target: String
  /// The request's header lines.
  let head: String

  /// Turns the header lines of a request to `target` into a strict router's form; nil if the first
  /// route is a loose one, or if there is none.
  init?(_ head: String, to target: String) {
    // A return and a line feed are one character.
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    let headers = lines.prefix { !$0.isEmpty }
    guard let first = headers.firstIndex(where: { $0.hasPrefix(Self.name) }),
      let last = headers.lastIndex(where: { $0.hasPrefix(Self.name) }),
      let begin = lines[first].firstIndex(of: "<"),
      let end = lines[first][begin...].firstIndex(of: ">")
    else { return nil }
    let uri = lines[first][begin..<end].dropFirst()
    // A user's name may have these letters too.
    let place = uri.lastIndex(of: "@") ?? uri.startIndex
    // Its headers and its method are for links alone (RFC 3261 section 19.1.1).
    let plain = uri[place...].prefix { $0 != "?" }
    let parameters = plain.split(separator: ";").dropFirst()
    let names = parameters.map { $0.prefix { $0 != "=" }.lowercased() }
    guard !names.contains("lr") else { return nil }
    let kept = zip(parameters, names).filter { $1 != "method" }.map { ";\($0.0)" }
    self.target = uri[..<place] + plain.prefix { $0 != ";" } + kept.joined()
    lines.insert("\(Self.name)<\(target)>", at: last + 1)
    lines.remove(at: first)
    self.head = lines.joined(separator: "\r\n")
  }

  private static let name = "Route: "
}

private typealias Requester =
  @convention(c) (
    UnsafeMutableRawPointer?, OpaquePointer?, Bool, UnsafePointer<CChar>?, CInt,
    UnsafePointer<CChar>?, CInt, UnsafePointer<uri>?, UnsafeMutablePointer<mbuf>?, Int,
    UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
  ) -> CInt

/// Replaces libre's function, by which libre sends all requests: gives those to a strict router the
/// form of `StrictRoute`, and sends those to a host of `NamedHosts` to its address.
///
/// libre sends them to the right host, but in the form for loose routers alone.
@c(sip_request)
package func sendRequest(
  _ place: UnsafeMutableRawPointer?,
  _ sip: OpaquePointer?,
  _ isStateful: Bool,
  _ method: UnsafePointer<CChar>?,
  _ methodLength: CInt,
  _ target: UnsafePointer<CChar>?,
  _ targetLength: CInt,
  _ route: UnsafePointer<uri>?,
  _ text: UnsafeMutablePointer<mbuf>?,
  _ order: Int,
  _ sending: UnsafeMutableRawPointer?,
  _ answered: UnsafeMutableRawPointer?,
  _ context: UnsafeMutableRawPointer?
) -> CInt {
  guard let next = unsafe original("sip_request") else { return ENOSYS }
  // SAFETY: libre's own function has this type.
  let request = unsafe unsafeBitCast(next, to: Requester.self)
  let send = {
    (
      uri: UnsafePointer<CChar>?,
      length: CInt,
      route: UnsafePointer<uri>?,
      text: UnsafeMutablePointer<mbuf>?
    ) in
    unsafe request(
      place,
      sip,
      isStateful,
      method,
      methodLength,
      uri,
      length,
      route,
      text,
      order,
      sending,
      answered,
      context
    )
  }
  guard let strict = unsafe strictRoute(of: text, to: target, targetLength) else {
    return unsafe withNumericHost(of: route) { unsafe send(target, targetLength, $0, text) }
  }
  let head = strict.head.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  guard let changed = unsafe re_buffer_from(head, head.count) else { return ENOMEM }
  defer { _ = unsafe mem_deref(changed) }
  return unsafe withNumericHost(of: route) { unsafe send(strict.target, -1, $0, changed) }
}

// Calls `body` with a route whose host is the address that `NamedHosts` has for its name, or with
// the route itself.
@unsafe
private func withNumericHost(
  of route: UnsafePointer<uri>?,
  _ body: (UnsafePointer<uri>?) -> CInt
) -> CInt {
  guard let route = unsafe route else { return body(nil) }
  let (name, port) = unsafe (String(route.pointee.host), route.pointee.port)
  let known = NamedHosts.shared.withLock {
    $0.address(of: name, hasPort: port != 0, at: MonotonicClock.now())
  }
  guard let known else { return unsafe body(route) }
  var numeric = unsafe route.pointee
  return unsafe known.withCString { start in
    unsafe numeric.host = pl(p: start, l: known.utf8.count)
    return unsafe body(&numeric)
  }
}

// Nil for a request that goes to no strict router. A letter stands for each byte: what others have
// named need not be UTF-8, and goes on as it is.
@unsafe
private func strictRoute(
  of text: UnsafeMutablePointer<mbuf>?,
  to target: UnsafePointer<CChar>?,
  _ length: CInt
) -> StrictRoute? {
  guard let bytes = unsafe mbuf_buf(text), let target = unsafe target else { return nil }
  let head = unsafe UnsafeBufferPointer(start: bytes, count: mbuf_get_left(text))
  let size = unsafe length < 0 ? strlen(target) : Int(length)
  let uri = unsafe UnsafeRawBufferPointer(start: target, count: size)
  return unsafe StrictRoute(letters(of: head), to: letters(of: uri))
}

private func letters(of bytes: some Sequence<UInt8>) -> String {
  String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) }))
}
