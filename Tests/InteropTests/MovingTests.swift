import Foundation
import Testing

/// Machines that change their network in the middle of a call.
@Suite(.waiting, .serialized)
struct MovingTests {
  /// The caller changes to another network: both sides still receive each other, and later
  /// signalling arrives.
  @Test(
    "a call goes on in another network, and so does its signalling",
    arguments: [true, false]
  )
  func callGoesOn(isForwarding: Bool) throws {
    guard let scene = try DividedScene(isForwarding: isForwarding) else {
      return Bench.skip(DividedScene.packages)
    }
    let folder = scene.server.folder
    let uri = "turn:\(DividedNetwork.server)"
    let said = folder.appendingPathComponent("said.wav")
    let heard = ["a", "b"].map { folder.appendingPathComponent("heard-\($0).wav") }
    let text = [String](repeating: Bench.aliceText, count: 3).joined(separator: " ")
    try Bench.speak(text, voice: "en", to: said)
    func devices(_ index: Int) -> [String] {
      ["--keys", "--capture", "file:\(said.path)", "--playback", "file:\(heard[index].path)"]
    }
    let listener = try scene.listen(scene.account("bob", uri), devices(1))
    let caller = try scene.call(scene.account("alice", uri), devices(0))
    #expect(caller.wait(for: "\"seconds\":3"), "\(caller.output)")
    try scene.network.move(0)
    // The last word is said after 12 s.
    #expect(caller.wait(for: "\"seconds\":14"), "\(caller.output)")
    listener.press("o")
    #expect(caller.wait(for: "heldByFarSide"), "\(caller.output)")
    listener.press("o")
    #expect(caller.wait(for: "resumedByFarSide"), "\(caller.output)")
    caller.press("h")
    #expect(caller.waitForExit() == 0, "\(caller.output)")
    #expect(listener.waitForExit() == 0, "\(listener.output)")
    #expect(listener.printed("the far side hung up"), "\(listener.output)")
    #expect(listener.output.components(separatedBy: "\"incoming\"").count == 2)
    #expect(try Bench.carries(said, in: heard[0]))
    #expect(try Bench.carries(said, in: heard[1]))
  }
}
