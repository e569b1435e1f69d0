import Foundation

/// A push in the form of a line of JSON, and the answer that Apple's service would give.
struct PushRequest {
  /// Maximum size of a payload in bytes of JSON: Apple's limit for calls.
  static let payloadLimit = 5_120

  /// Content as the sender wrote it.
  let payload: PushPayload

  /// Reason why a push is refused, in Apple's terms (APNs, "Handling notification responses").
  struct Refusal: Error, Equatable {
    let status: Int
    let reason: String

    static let noObject = Refusal(status: 400, reason: "BadMessageFormat")
    static let empty = Refusal(status: 400, reason: "PayloadEmpty")
    static let wrongToken = Refusal(status: 400, reason: "BadDeviceToken")
    static let tooLarge = Refusal(status: 413, reason: "PayloadTooLarge")
  }

  /// Parses a line for the app that has this token.
  init(_ line: String, token: Data) throws(Refusal) {
    // What is no JSON is no object either.
    guard let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
    else { throw .noObject }
    guard let sent = object["token"] as? String, sent.lowercased() == token.hexadecimal else {
      throw .wrongToken
    }
    guard let values = object["payload"] as? [String: Any], !values.isEmpty else { throw .empty }
    // What was read as JSON can be written as JSON.
    let size = (try? JSONSerialization.data(withJSONObject: values))?.count ?? .max
    guard size <= Self.payloadLimit else { throw .tooLarge }
    payload = PushPayload(values)
  }

  /// Returns the line that answers a push; nil for `refusal` means that it was accepted.
  static func answer(_ refusal: Refusal?) -> String {
    guard let refusal else { return #"{"status":200}"# }
    return #"{"status":\#(refusal.status),"reason":"\#(refusal.reason)"}"#
  }
}

/// Values of a push.
///
/// SAFETY: made of JSON, read by one thread after the other, and never changed.
struct PushPayload: @unchecked Sendable {
  let values: [AnyHashable: Any]

  init(_ values: [String: Any]) {
    self.values = Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0), $1) })
  }
}

extension Data {
  /// Lower-case hexadecimal digits, two for each byte.
  var hexadecimal: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
