import CDBus

/// Conversion between `BusValue` and the arguments of libdbus messages.
@safe
enum BusMarshal {
  private static func code(_ character: Character) -> CInt {
    CInt(character.asciiValue ?? 0)
  }

  static func append(_ values: [BusValue], to message: OpaquePointer) {
    var iterator = unsafe DBusMessageIter()
    unsafe dbus_message_iter_init_append(message, &iterator)
    for value in values { unsafe append(value, &iterator) }
  }

  private static func append(_ value: BusValue, _ iterator: inout DBusMessageIter) {
    switch value {
    case .string(let text):
      unsafe append(text, &iterator)
    case .uint16(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("q"), &number)
    case .uint32(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("u"), &number)
    case .int32(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("i"), &number)
    case .uint64(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("t"), &number)
    case .int64(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("x"), &number)
    case .double(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("d"), &number)
    case .bool(let isTrue):
      var number: dbus_bool_t = isTrue ? 1 : 0
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("b"), &number)
    case .byte(let number):
      var number = number
      _ = unsafe dbus_message_iter_append_basic(&iterator, code("y"), &number)
    case .strings(let texts):
      unsafe within(code("a"), "s", &iterator) { list in
        for text in texts { unsafe append(text, &list) }
      }
    case .dictionary(let entries):
      unsafe within(code("a"), "{sv}", &iterator) { list in
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
          unsafe within(code("e"), nil, &list) { entry in
            unsafe append(key, &entry)
            unsafe within(code("v"), value.signature, &entry) { unsafe append(value, &$0) }
          }
        }
      }
    case .dictionaries(let list):
      unsafe within(code("a"), "a{sv}", &iterator) { inner in
        for entries in list { unsafe append(.dictionary(entries), &inner) }
      }
    case .path(let path):
      unsafe append(path, as: "o", &iterator)
    case .paths(let paths):
      unsafe within(code("a"), "o", &iterator) { list in
        for path in paths { unsafe append(path, as: "o", &list) }
      }
    case .bytes(let bytes):
      unsafe within(code("a"), "y", &iterator) { list in
        for byte in bytes { unsafe append(.byte(byte), &list) }
      }
    case .byteStrings(let list):
      unsafe within(code("a"), "ay", &iterator) { inner in
        for bytes in list { unsafe append(.bytes(bytes), &inner) }
      }
    case .texts(let entries):
      unsafe within(code("a"), "{ss}", &iterator) { list in
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
          unsafe within(code("e"), nil, &list) { entry in
            unsafe append(key, &entry)
            unsafe append(value, &entry)
          }
        }
      }
    case .structure(let fields):
      unsafe within(code("r"), nil, &iterator) { inner in
        for field in fields { unsafe append(field, &inner) }
      }
    case .variant(let held):
      unsafe within(code("v"), held.signature, &iterator) { unsafe append(held, &$0) }
    case .other:
      unsafe append("", &iterator)
    }
  }

  // The bus takes UTF-8 without zeros.
  private static func append(
    _ text: String,
    as type: Character = "s",
    _ iterator: inout DBusMessageIter
  ) {
    let plain = text.contains("\0") ? text.replacing("\0", with: "") : text
    unsafe plain.withCString { pointer in
      var pointer: UnsafePointer<CChar>? = unsafe pointer
      _ = unsafe dbus_message_iter_append_basic(&iterator, code(type), &pointer)
    }
  }

  private static func within(
    _ type: CInt,
    _ signature: String?,
    _ iterator: inout DBusMessageIter,
    _ body: (inout DBusMessageIter) -> Void
  ) {
    var inner = unsafe DBusMessageIter()
    guard unsafe dbus_message_iter_open_container(&iterator, type, signature, &inner) != 0 else {
      return
    }
    unsafe body(&inner)
    _ = unsafe dbus_message_iter_close_container(&iterator, &inner)
  }

  static func values(of message: OpaquePointer) -> [BusValue] {
    var iterator = unsafe DBusMessageIter()
    guard unsafe dbus_message_iter_init(message, &iterator) != 0 else { return [] }
    return unsafe values(&iterator)
  }

  private static func values(_ iterator: inout DBusMessageIter) -> [BusValue] {
    var values: [BusValue] = []
    while unsafe dbus_message_iter_get_arg_type(&iterator) != 0 {
      unsafe values.append(value(&iterator))
      _ = unsafe dbus_message_iter_next(&iterator)
    }
    return values
  }

  private static func value(_ iterator: inout DBusMessageIter) -> BusValue {
    let type = unsafe dbus_message_iter_get_arg_type(&iterator)
    switch type {
    case code("s"), code("o"), code("g"):
      var pointer: UnsafePointer<CChar>?
      unsafe dbus_message_iter_get_basic(&iterator, &pointer)
      return unsafe .string(pointer.map { unsafe String(cString: $0) } ?? "")
    case code("q"):
      var number: UInt16 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .uint16(number)
    case code("u"):
      var number: UInt32 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .uint32(number)
    case code("i"):
      var number: Int32 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .int32(number)
    case code("t"):
      var number: UInt64 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .uint64(number)
    case code("x"):
      var number: Int64 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .int64(number)
    case code("d"):
      var number = 0.0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .double(number)
    case code("b"):
      var number: dbus_bool_t = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .bool(number != 0)
    case code("y"):
      var number: UInt8 = 0
      unsafe dbus_message_iter_get_basic(&iterator, &number)
      return .byte(number)
    case code("r"):
      return unsafe .structure(within(&iterator))
    case code("v"):
      return unsafe within(&iterator).first ?? .other
    case code("a"):
      return unsafe list(&iterator)
    default:
      return .other
    }
  }

  private static func list(_ iterator: inout DBusMessageIter) -> BusValue {
    let type = unsafe dbus_message_iter_get_element_type(&iterator)
    var inner = unsafe DBusMessageIter()
    unsafe dbus_message_iter_recurse(&iterator, &inner)
    if type == code("e") {
      var entries: [String: BusValue] = [:]
      while unsafe dbus_message_iter_get_arg_type(&inner) == code("e") {
        let pair = unsafe within(&inner)
        if pair.count == 2, case .string(let key) = pair[0] { entries[key] = pair[1] }
        _ = unsafe dbus_message_iter_next(&inner)
      }
      return .dictionary(entries)
    }
    if type == code("a") { return unsafe listOfLists(&iterator, &inner) }
    if type == code("y") {
      return .bytes(
        unsafe values(&inner).compactMap { value in
          if case .byte(let byte) = value { byte } else { nil }
        }
      )
    }
    let texts = unsafe values(&inner).compactMap { value in
      if case .string(let text) = value { text } else { nil }
    }
    return type == code("s") || type == code("o") ? .strings(texts) : .other
  }

  private static func listOfLists(
    _ iterator: inout DBusMessageIter,
    _ inner: inout DBusMessageIter
  ) -> BusValue {
    // An empty list does not tell by its elements what it would hold.
    let signature = unsafe dbus_message_iter_get_signature(&iterator)
    defer { unsafe dbus_free(signature) }
    let lists = unsafe values(&inner)
    if unsafe signature.map({ unsafe String(cString: $0) }) == "aay" {
      return .byteStrings(
        lists.compactMap { list in
          if case .bytes(let bytes) = list { bytes } else { nil }
        }
      )
    }
    return .dictionaries(
      lists.compactMap { list in
        if case .dictionary(let entries) = list { entries } else { nil }
      }
    )
  }

  private static func within(_ iterator: inout DBusMessageIter) -> [BusValue] {
    var inner = unsafe DBusMessageIter()
    unsafe dbus_message_iter_recurse(&iterator, &inner)
    return unsafe values(&inner)
  }
}
