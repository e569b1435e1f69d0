import Foundation

/// A push as a line of JSON, and what Apple's service would answer.
struct PushRequest {
  /// The longest payload, in bytes of JSON: Apple's limit for calls.
  static let payloadLimit = 5_120

  /// What the sender put in.
  let payload: PushPayload

  /// Why a push is refused, in Apple's words for it (APNs, "Handling notification responses").
  struct Refusal: Error, Equatable {
    let status: Int
    let reason: String

    static let noObject = Refusal(status: 400, reason: "BadMessageFormat")
    static let empty = Refusal(status: 400, reason: "PayloadEmpty")
    static let wrongToken = Refusal(status: 400, reason: "BadDeviceToken")
    static let tooLarge = Refusal(status: 413, reason: "PayloadTooLarge")
  }

  /// Reads a line that is for the app with this token.
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

  /// The line that answers a push.
  static func answer(_ refusal: Refusal?) -> String {
    guard let refusal else { return #"{"status":200}"# }
    return #"{"status":\#(refusal.status),"reason":"\#(refusal.reason)"}"#
  }
}

/// The values of a push.
///
/// SAFETY: made of JSON, read by one thread after the other, and never changed.
struct PushPayload: @unchecked Sendable {
  let values: [AnyHashable: Any]

  init(_ values: [String: Any]) {
    self.values = Dictionary(uniqueKeysWithValues: values.map { (AnyHashable($0), $1) })
  }
}

extension Data {
  /// Two lower-case digits for each byte.
  var hexadecimal: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
  }
}
