import Foundation
import Testing

@testable import CommandLine

struct JSONValueTests {
  @Test(arguments: [
    (JSONValue.null, "null"), (.flag(true), "true"), (.integer(.min), "-9223372036854775808"),
    (.unsigned(.max), "18446744073709551615"), (.number(0.5), "0.5"), (.text("a/b"), "\"a/b\""),
    (.text("\"\n\u{1}"), #""\"\n\u0001""#), (.list([.count(1), .null]), "[1,null]"),
    (.object(["b": .count(2), "a": .text(nil)]), #"{"a":null,"b":2}"#), (.object([:]), "{}"),
  ])
  func aValueIsOneLine(value: JSONValue, line: String) {
    #expect(value.line == line)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func whatIsNoNumberHasNoLine(number: Double) {
    #expect(JSONValue.number(number).line == nil)
    #expect(JSONValue.list([.object(["a": .number(number)])]).line == nil)
  }

  @Test func countsOfEveryWidthAreTaken() {
    #expect(JSONValue.count(UInt64.max).line == "\(Int64.max)")
    #expect(JSONValue.count(UInt8(7)).line == "7")
    #expect(JSONValue.text("x").line == JSONValue.text(Optional("x")).line)
    let interpolated: JSONValue = "a\(1)"
    #expect(interpolated.line == "\"a1\"")
  }

  @Test func peopleReadItWithoutBrackets() {
    let value = JSONValue.object([
      "on": .flag(false), "codecs": .list(["opus", "pcma"]), "account": .null,
      "seconds": .number(1.5), "calls": .unsigned(2),
    ])
    #expect(value.plain == "account none, calls 2, codecs opus pcma, on false, seconds 1.5")
  }
}
