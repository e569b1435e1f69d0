import CLibre
import ICE
import UDPTransport

/// Binding messages as libre reads and writes them (RFC 8489).
extension BindingMessage {
  /// Decodes a received STUN message; nil if the bytes are no valid Binding message, or have an
  /// unknown attribute that has to be understood.
  ///
  /// - Parameters:
  ///   - bytes: the datagram.
  ///   - own: the password that requests to this side are signed with.
  ///   - other: the password that responses to this side are signed with; nil if not known yet.
  init?(_ bytes: [UInt8], own: String, other: String?) {
    var found = re_binding()
    guard unsafe re_binding_decode(bytes, bytes.count, own, other, &found) == 0 else { return nil }
    let kind: Kind
    switch UInt32(found.message_class) {
    case STUN_CLASS_REQUEST.rawValue: kind = .request
    case STUN_CLASS_SUCCESS_RESP.rawValue: kind = .success
    case STUN_CLASS_ERROR_RESP.rawValue: kind = .failure(Int(found.error))
    default: kind = .indication
    }
    let transaction = unsafe withUnsafeBytes(of: &found.transaction) { unsafe Array($0) }
    self.init(kind, transaction: transaction)
    let name = unsafe withUnsafeBytes(of: &found.username) {
      unsafe $0.map { CChar(bitPattern: $0) }
    }
    username = name.first == 0 ? nil : String(cStringBytes: name)
    priority = found.has_priority ? found.priority : nil
    nominates = found.nominates
    role = found.is_controlling ? .controlling : found.is_controlled ? .controlled : nil
    tiebreaker = found.tiebreaker
    mapped = found.has_mapped ? unsafe SocketAddress(libre: &found.mapped) : nil
    isAuthentic = found.is_authentic
  }

  /// Returns the message in a buffer of libre's, signed with a password unless that is nil; nil if
  /// memory runs out.
  ///
  /// The caller releases the buffer, which has room for headers in front of the message.
  @unsafe
  func encode(signedWith password: String?) -> UnsafeMutablePointer<mbuf>? {
    var binding = re_binding()
    switch kind {
    case .request: binding.message_class = UInt16(STUN_CLASS_REQUEST.rawValue)
    case .indication: binding.message_class = UInt16(STUN_CLASS_INDICATION.rawValue)
    case .success: binding.message_class = UInt16(STUN_CLASS_SUCCESS_RESP.rawValue)
    case .failure(let code):
      binding.message_class = UInt16(STUN_CLASS_ERROR_RESP.rawValue)
      binding.error = UInt16(clamping: code)
    }
    unsafe withUnsafeMutableBytes(of: &binding.transaction) {
      unsafe $0.copyBytes(from: transaction.prefix($0.count))
    }
    unsafe withUnsafeMutableBytes(of: &binding.username) {
      unsafe $0.copyBytes(from: Array((username ?? "").utf8.prefix($0.count - 1)))
    }
    binding.has_priority = priority != nil
    binding.priority = priority ?? 0
    binding.nominates = nominates
    binding.is_controlling = role == .controlling
    binding.is_controlled = role == .controlled
    binding.tiebreaker = tiebreaker
    if let address = mapped?.inLibre {
      binding.has_mapped = true
      binding.mapped = address
    }
    return unsafe re_binding_encode(&binding, password)
  }
}

extension SocketAddress {
  /// An address of libre's; nil if it is of another family.
  @unsafe
  init?(libre address: UnsafePointer<sa>?) {
    var text = [CChar](repeating: 0, count: 64)
    var port: UInt16 = 0
    guard let address = unsafe address,
      unsafe re_address_text(address, &text, text.count, &port) == 0
    else { return nil }
    self.init(host: String(cStringBytes: text), port: port)
  }

  /// The address in libre's form; nil if libre cannot parse it.
  var inLibre: sa? {
    var address = sa()
    return unsafe sa_set_str(&address, host, port) == 0 ? address : nil
  }
}

extension ICECandidate {
  /// A candidate as SDP writes it; nil if it is not for RTP over UDP at a numeric address.
  init?(attribute: String) {
    var address = sa()
    var priority: UInt32 = 0
    var type: UnsafePointer<CChar>?
    guard unsafe re_candidate_parse(attribute, &address, &priority, &type) == 0,
      let type = unsafe type, let kind = unsafe Kind(rawValue: String(cString: type)),
      let address = unsafe SocketAddress(libre: &address), address.mayBeSentTo
    else { return nil }
    self.init(kind, address, priority: priority)
  }

  /// The candidate as SDP writes it; nil if libre cannot write it.
  var attribute: String? {
    guard var address = address.inLibre else { return nil }
    var text = [CChar](repeating: 0, count: 256)
    var other = related?.inLibre ?? sa()
    let code =
      related == nil || kind == .host
      ? unsafe re_candidate_text(
        &text,
        text.count,
        foundation,
        priority,
        kind.rawValue,
        &address,
        nil
      )
      : unsafe re_candidate_text(
        &text,
        text.count,
        foundation,
        priority,
        kind.rawValue,
        &address,
        &other
      )
    return code == 0 ? String(cStringBytes: text) : nil
  }
}

extension SocketAddress {
  /// True unless the port is 0, or the address is unspecified, multicast or reserved.
  var mayBeSentTo: Bool {
    guard port != 0 else { return false }
    if host.contains(":") { return host != "::" && !host.lowercased().hasPrefix("ff") }
    let first = host.prefix { $0 != "." }
    return (Int(first) ?? 0) > 0 && (Int(first) ?? 0) < 224
  }
}
