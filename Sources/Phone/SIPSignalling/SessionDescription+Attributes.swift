import CLibre

/// Attributes of the far side's description.
extension SessionDescription {
  static func number(named name: String, in parameters: String) -> Int? {
    for parameter in parameters.split(whereSeparator: { $0 == ";" || $0 == " " }) {
      let pair = parameter.split(separator: "=")
      if pair.count == 2, pair[0] == name { return Int(pair[1]) }
    }
    return nil
  }

  func attributes(_ name: String, ofSession isOfSession: Bool = false) -> [String] {
    final class Found {
      var values: [String] = []
    }
    let found = Found()
    let context = unsafe Unmanaged.passUnretained(found).toOpaque()
    let note:
      @convention(c) (UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutableRawPointer?)
        -> Bool = { _, value, context in
          guard let value = unsafe value, let context = unsafe context else { return false }
          let found = unsafe Unmanaged<Found>.fromOpaque(context).takeUnretainedValue()
          found.values.append(unsafe String(cString: value))
          return false
        }
    if isOfSession {
      _ = unsafe sdp_session_rattr_apply(session, name, note, context)
    } else {
      _ = unsafe sdp_media_rattr_apply(media, name, note, context)
    }
    return found.values
  }

  func attribute(_ name: String, orOfSession isOfSession: Bool = false) -> String? {
    let value =
      isOfSession
      ? unsafe sdp_media_session_rattr(media, session, name) : unsafe sdp_media_rattr(media, name)
    return unsafe value.map { unsafe String(cString: $0) }
  }
}
