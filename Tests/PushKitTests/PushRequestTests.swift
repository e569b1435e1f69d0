import Foundation
import Testing

@testable import PushKit

/// A push as a line, and what is answered.
struct PushRequestTests {
  private let token = Data((0..<32).map { UInt8($0) })

  private func refusal(_ line: String) -> PushRequest.Refusal? {
    do throws(PushRequest.Refusal) {
      _ = try PushRequest(line, token: token)
      return nil
    } catch {
      return error
    }
  }

  @Test func aPushWithTheTokenIsTaken() throws {
    let line = #"{"token":"\#(token.hexadecimal.uppercased())","payload":{"handle":"x","n":3}}"#
    let values = try PushRequest(line, token: token).payload.values
    #expect(values["handle"] as? String == "x" && values["n"] as? Int == 3)
  }

  @Test func whatIsWrongIsSaidInApplesWords() {
    let name = token.hexadecimal
    #expect(refusal("") == .noObject && refusal("[1]") == .noObject && refusal("{") == .noObject)
    #expect(refusal("{}") == .wrongToken)
    #expect(refusal(#"{"token":"\#(name.dropLast())","payload":{"a":1}}"#) == .wrongToken)
    #expect(refusal(#"{"token":"\#(name)"}"#) == .empty)
    #expect(refusal(#"{"token":"\#(name)","payload":{}}"#) == .empty)
    let long = String(repeating: "x", count: PushRequest.payloadLimit)
    #expect(refusal(#"{"token":"\#(name)","payload":{"a":"\#(long)"}}"#) == .tooLarge)
    #expect(PushRequest.answer(.tooLarge) == #"{"status":413,"reason":"PayloadTooLarge"}"#)
    #expect(PushRequest.answer(nil) == #"{"status":200}"#)
  }
}
