import Testing

@testable import SIPSignalling
@testable import SRTP

/// Keys in the description (SDES, RFC 4568).
struct DescribedKeysTests {
  @Test func aKeyIsReadAsItIsWritten() throws {
    for key in try DescribedKeys().own {
      let attribute = try #require(key.attribute)
      #expect(DescribedKey(attribute: attribute) == key)
      #expect(DescribedKey(attribute: attribute + "|2^20") == key)
      #expect(DescribedKey(attribute: attribute + " WSH=128") == key)
      #expect(DescribedKey(attribute: attribute + " -X=1 WSH=64") == key)
      for other in [" KDR=0", " KDR=4", " WSH=", " WSH=63", " WSH=+64"] {
        #expect(DescribedKey(attribute: attribute + other) == nil)
      }
    }
  }

  /// Example of RFC 4568 section 4.1.
  @Test func theExampleOfTheRFCIsRead() throws {
    let text = "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|2^20"
    let key = try #require(DescribedKey(attribute: text))
    #expect(key.tag == 1 && key.profile == .aes128CMSHA1Tag80)
    #expect(key.attribute == String(text.dropLast(5)))
  }

  /// Phones name the key that their packets carry (`MKI`), with the lifetime or without.
  @Test(arguments: [
    ("|1:1", [1]), ("|2^31|1:4", [0, 0, 0, 1]), ("|1048576|258:2", [1, 2]),
    ("|7:10", [0, 0, 0, 0, 0, 0, 0, 0, 0, 7]),
  ])
  func identifiersOfKeysAreRead(ending: String, identifier: [UInt8]) throws {
    let text = "1 AES_CM_128_HMAC_SHA1_32 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR"
    let key = try #require(DescribedKey(attribute: text + ending))
    #expect(key.profile == .aes128CMSHA1Tag32 && key.key.identifier == identifier)
    #expect(key.attribute == text)
  }

  @Test(arguments: [
    "", "1", "x AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR",
    "1 F8_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|1:129",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|1:0",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|256:1",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR|1:4|2^20",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR UNENCRYPTED_SRTP",
    "1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVe", "1 AES_CM_128_HMAC_SHA1_80 inline:",
    "1 AES_CM_128_HMAC_SHA1_80 inline:????", "1 AES_CM_128_HMAC_SHA1_80 PS1uQCVe",
    "-1 AES_CM_128_HMAC_SHA1_80 inline:PS1uQCVeeCFCanVmcjkpPywjNWhcYD0mXXtxaVBR",
  ])
  func othersAreRefused(text: String) {
    #expect(DescribedKey(attribute: text) == nil)
  }

  /// Each side sends with its own key and receives with the other's; the better cipher is chosen.
  @Test func bothSidesAgree() throws {
    let (caller, callee) = (try DescribedKeys(), try DescribedKeys())
    let (answer, theirs) = try #require(callee.answer(to: caller.own))
    let mine = try #require(caller.agreed(by: [answer]))
    #expect(mine.profile == .aeadAES128GCM && mine == theirs.swapped)
    let old = try #require(callee.answer(to: [caller.own[1]]))
    #expect(old.agreed.profile == .aes128CMSHA1Tag80 && old.answer.tag == 2)
    #expect(caller.agreed(by: [old.answer]) == old.agreed.swapped)
    let short = try #require(callee.answer(to: [caller.own[2]]))
    #expect(short.agreed.profile == .aes128CMSHA1Tag32 && short.answer.tag == 3)
    #expect(caller.agreed(by: [short.answer]) == short.agreed.swapped)
    #expect(callee.answer(to: []) == nil && caller.agreed(by: []) == nil)
  }

  /// A key does not show in logs.
  @Test func keysAreNotPrinted() throws {
    let key = try DescribedKeys().own[0]
    #expect("\(key.key)" == "a secret key" && !"\(key)".contains("["))
    var dumped = ""
    dump(key.key, to: &dumped)
    #expect(!dumped.contains("UInt8") && !dumped.contains("elements"))
  }
}
