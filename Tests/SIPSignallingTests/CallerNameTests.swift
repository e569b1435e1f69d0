import Testing

@testable import SIPSignalling

/// Names of callers in the headers From and P-Asserted-Identity (RFC 3261 section 25.1).
struct CallerNameTests {
  @Test(arguments: [
    ("Dr. Bob O'Brien-Smith <sip:b@h>;tag=1", "Dr. Bob O'Brien-Smith"),
    ("  Bob   Smith<sip:b@h>", "Bob Smith"),
    (#""Bob \"the\" Plumber" <sip:b@h>"#, #"Bob "the" Plumber"#),
    (#""<x> a\\b" <sip:b@h>"#, #"<x> a\b"#), ("sip:b@h;tag=1", ""), ("<sip:b@h>", ""),
    (#""open"#, "open"),
    (#""" <sip:b@h>"#, ""), ("", ""), ("\"a\r\n b\u{7}\" <sip:b@h>", "a b"),
    ("\"a\"\u{200D}<sip:b@h>;tag=1", "a"), ("\"a\u{2028}b\u{202E}c\"<sip:b@h>", "a b c"),
    ("a\u{A0}<sip:b@h>", "a"),
  ])
  func nameIsReadWithItsWordsAndEscapes(value: String, name: String) {
    #expect(UserAgent.displayName(in: value) == name)
  }
}
