import Foundation

/// The address that a far side is asked to call instead (RFC 3515), and the call there that the new
/// one is to replace (RFC 3891).
public struct TransferTarget: Equatable, Sendable {
  /// The URI to call, without headers.
  public let uri: String
  /// The call at the target that the new one replaces; nil for a transfer without one.
  package let replaced: DialogName?
  /// The value of Referred-By, by which the target knows who has asked for the call (RFC 3892); nil
  /// without that header.
  var referrer: String?

  /// A target, and the call there that the new one replaces; nil for none.
  package init(uri: String, replacing replaced: DialogName? = nil) {
    self.uri = uri
    self.replaced = replaced
  }

  /// The target of a Refer-To header; nil if it is neither a SIP URI nor a telephone number, or if
  /// it asks for something other than a call.
  init?(referringTo text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let start = parts[0].lowercased()
    guard !start.contains(";method=") || start.contains(";method=invite") else { return nil }
    if let address = SIPAddress(String(parts[0])) {
      uri =
        address.isSecureScheme
        ? "sips:" + address.uri.dropFirst("sip:".count) + address.parameters
        : address.wholeURI
    } else if let number = SIPAddress.number(inURI: String(parts[0])) {
      uri = "tel:\(number)"
    } else {
      return nil
    }
    let headers = parts.count < 2 ? [] : parts[1].split(separator: "&")
    let value = headers.first { $0.lowercased().hasPrefix("replaces=") }?.dropFirst(9)
    guard let value else {
      replaced = nil
      return
    }
    guard let name = value.removingPercentEncoding.flatMap({ DialogName($0) }) else { return nil }
    replaced = name
  }

  /// The value of a Refer-To header, without brackets.
  var referTo: String {
    guard let replaced else { return uri }
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-_.!~*'()")
    let value = "\(replaced)".addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
    return "\(uri)?Replaces=\(value)"
  }
}

/// The identifiers of a dialog as its far side knows them (RFC 3891 section 6.1).
package struct DialogName: Equatable, Sendable, CustomStringConvertible {
  let callID: String
  /// Tag of the side that receives these identifiers.
  let toTag: String
  /// Tag of the other side.
  let fromTag: String
  /// True if the dialog is to be replaced only before it is confirmed (RFC 3891 section 3).
  private(set) var isEarlyOnly = false

  init(callID: String, toTag: String, fromTag: String) {
    self.callID = callID
    self.toTag = toTag
    self.fromTag = fromTag
  }

  /// Parses the value of a Replaces header; nil if it is malformed.
  init?(_ text: String) {
    let fields = text.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    func tag(_ name: String) -> String? {
      for field in fields.dropFirst() {
        let pair = field.split(separator: "=", maxSplits: 1).map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        if pair.count == 2, pair[0].lowercased() == name { return pair[1] }
      }
      return nil
    }
    // It is written into messages, where a line's end would end a header.
    guard let callID = fields.first, let to = tag("to-tag"), let from = tag("from-tag"),
      !callID.isEmpty,
      (callID + to + from).unicodeScalars.allSatisfy({ $0.value > 32 && $0.value < 127 })
    else { return nil }
    self.callID = callID
    toTag = to
    fromTag = from
    isEarlyOnly = fields.dropFirst().contains { $0.lowercased() == "early-only" }
  }

  package var description: String {
    "\(callID);to-tag=\(toTag);from-tag=\(fromTag)" + (isEarlyOnly ? ";early-only" : "")
  }
}
