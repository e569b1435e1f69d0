import Foundation
import Testing

/// Each message of a call is lost once: the call comes up and ends all the same (RFC 3261 section
/// 17).
@Suite(.waiting, .serialized)
struct LostMessageTests {
  private static let messages: [(text: String, side: Int)] = [
    ("INVITE", 0), ("SIP/2.0 180", 1), ("SIP/2.0 200", 1), ("ACK", 0), ("BYE", 0),
  ]

  @Test(arguments: messages.indices) func callComesUpAndEnds(index: Int) throws {
    guard Bench.ip != nil else { return Bench.skip("iproute2 root") }
    let message = Self.messages[index]
    let thief = MessageThief(message.text, from: message.side)
    let scene = try AttackScene(thief)
    let listener = try scene.listen("--security", "off")
    let caller = try scene.call(seconds: 2, "--security", "off")
    #expect(caller.waitForExit() == 0, "\(message.text): \(caller.output)")
    #expect(listener.wait(for: "the far side hung up"), "\(message.text): \(listener.output)")
    #expect(thief.hasStolen, "\(message.text)")
    scene.end(listener)
  }
}
