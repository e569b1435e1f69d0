/// Names of headers, which libre distinguishes by twelve bits of a hash alone.
///
/// It mistakes `DC-Info`, for example, for another header, and so finds fault with a good request.
///
/// A value without I/O.
package enum HeaderNames {
  /// Headers that libre or this program looks up by their hash (RFC 3261 section 20 and others).
  private static let known = Set(
    [
      "accept", "accept-encoding", "accept-language", "alert-info", "allow", "allow-events",
      "authentication-info", "authorization", "call-id", "call-info", "contact",
      "content-disposition", "content-encoding", "content-language", "content-length",
      "content-type", "cseq", "date", "error-info", "event", "expires", "from", "in-reply-to",
      "max-forwards", "mime-version", "min-expires", "min-se", "organization", "path", "priority",
      "proxy-authenticate", "proxy-authorization", "proxy-require", "rack", "reason",
      "record-route", "refer-sub", "refer-to", "referred-by", "replaces", "reply-to", "require",
      "retry-after", "route", "rseq", "server", "service-route", "session-expires", "sip-etag",
      "sip-if-match", "subject", "subscription-state", "supported", "timestamp", "to",
      "unsupported", "user-agent", "via", "warning", "www-authenticate",
    ].map { Array($0.utf8) }
  )
  private static let numbers = Set(known.map { MessageForm.number($0[...]) })

  /// Finds the header names that libre would mistake for others: the index of each one's first
  /// letter, and a letter to put there so that libre does not.
  ///
  /// Nothing reads these headers, so their names may be changed.
  package static func disguises(in message: ArraySlice<UInt8>) -> [(place: Int, letter: UInt8)] {
    (MessageForm.head(of: message) ?? []).dropFirst().compactMap { line in
      var name = Array(message[line].prefix { $0 != UInt8(ascii: ":") })
      while let last = name.last, last == 32 || last == 9 { name.removeLast() }
      guard name.count > 1, numbers.contains(MessageForm.number(name[...])),
        !known.contains(name.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
      else { return nil }
      for letter in UInt8(ascii: "a")...UInt8(ascii: "z") {
        name[0] = letter
        if !numbers.contains(MessageForm.number(name[...])) { return (line.lowerBound, letter) }
      }
      return nil
    }
  }
}
