import Foundation

extension NSCoder {
  func encode(_ uuid: UUID, forKey key: String) {
    encode(NSString(string: uuid.uuidString), forKey: key)
  }

  func encode(_ text: String?, forKey key: String) {
    if let text { encode(NSString(string: text), forKey: key) }
  }

  func decodeText(forKey key: String) -> String? {
    // Asking for what is not there counts as damage on Linux.
    guard containsValue(forKey: key) else { return nil }
    return decodeObject(of: NSString.self, forKey: key).map { "\($0)" }
  }

  func decodeUUID(forKey key: String) -> UUID? {
    decodeText(forKey: key).flatMap { UUID(uuidString: $0) }
  }
}
