import CDBus
import Foundation
import Testing

@testable import DesktopServices

/// Values that are written to a message of libdbus and read back.
struct BusMarshalTests {
  /// Values that are read from a message of libdbus after `values` were written to it.
  private func through(_ values: [BusValue]) throws -> [BusValue] {
    let message = unsafe dbus_message_new_signal("/x", "org.example.Test", "Changed")
    let made = try unsafe #require(message)
    defer { unsafe dbus_message_unref(made) }
    unsafe BusMarshal.append(values, to: made)
    return unsafe BusMarshal.values(of: made)
  }

  @Test(
    arguments: [
      .string(""), .string("sip:bob@[fe80::1]:5060 – Zoë 日本"), .uint32(.max), .uint32(0),
      .int32(.min), .int32(-1), .uint64(.max), .int64(.min), .bool(true), .bool(false),
      .byte(0), .byte(255), .strings([]), .strings(["a", "", "b"]), .dictionary([:]),
      .dictionary(["a": .string("x"), "b": .uint32(7), "c": .strings(["y"]), "": .bool(true)]),
      .dictionaries([]), .dictionaries([["a": .byte(1)], [:], ["b": .int64(-5)]]),
      .bytes([]), .bytes([0, 255]), .byteStrings([]), .byteStrings([[], [0, 255]]), .uint16(65_535),
      .structure([.string("x"), .bytes([1]), .bool(true)]),
      .dictionary(["inner": .dictionary(["deep": .dictionaries([["x": .bool(false)]])])]),
    ] as [BusValue]
  )
  func valueComesThroughAsItWas(value: BusValue) throws {
    #expect(try through([value]) == [value])
    #expect(value.signature.isEmpty == false)
  }

  @Test func pathsAndTextsAreReadAsTheirKinds() throws {
    #expect(try through([.path("/a/b")]) == [.string("/a/b")])
    #expect(try through([.paths(["/a", "/b"])]) == [.strings(["/a", "/b"])])
    #expect(try through([.texts(["a": "x"])]) == [.dictionary(["a": .string("x")])])
  }

  @Test func severalValuesKeepTheirOrder() throws {
    let all: [BusValue] = [.string("app"), .uint32(3), .strings(["answer", "Answer"]), .int32(-1)]
    #expect(try through(all) == all)
    #expect(try through([]) == [])
  }

  @Test func variantIsReadAsWhatItHolds() throws {
    #expect(try through([.variant(.uint32(5))]) == [.uint32(5)])
    #expect(try through([.variant(.dictionary(["a": .byte(1)]))]) == [.dictionary(["a": .byte(1)])])
  }

  @Test func textThatTheBusWouldRefuseIsMadeFit() throws {
    // libdbus aborts the program that gives it a zero within a string.
    #expect(try through([.string("Eve\0sdropper")]) == [.string("Evesdropper")])
    #expect(try through([.strings(["\0"])]) == [.strings([""])])
  }
}
