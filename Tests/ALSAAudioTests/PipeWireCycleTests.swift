import Foundation
import Glibc
import Testing

@testable import ALSAAudio

/// Parsing of the output of `pw-metadata -n settings 0` (PipeWire 0.3.65 and 1.4).
struct PipeWireCycleTests {
  private static let usual = """
    Found "settings" metadata 30
    update: id:0 key:'log.level' value:'2' type:''
    update: id:0 key:'clock.rate' value:'48000' type:''
    update: id:0 key:'clock.allowed-rates' value:'[ 48000 ]' type:''
    update: id:0 key:'clock.quantum' value:'1024' type:''
    update: id:0 key:'clock.min-quantum' value:'16' type:''
    update: id:0 key:'clock.max-quantum' value:'2048' type:''
    update: id:0 key:'clock.force-quantum' value:'0' type:''
    update: id:0 key:'clock.force-rate' value:'0' type:''
    """

  @Test func whatMayBeAskedForIsTheLeast() {
    #expect(PipeWireSettings(Self.usual).leastCycle == 333_334)
  }

  /// PipeWire's own settings for virtual machines.
  @Test func aMachineMayHaveALongLeastCycle() {
    let text = Self.usual.replacing("min-quantum' value:'16'", with: "min-quantum' value:'1024'")
    #expect(PipeWireSettings(text).leastCycle == 21_333_334)
  }

  @Test func theUserMayForceOne() {
    let forced = Self.usual.replacing(
      "force-quantum' value:'0'",
      with: "force-quantum' value:'882'"
    )
    #expect(PipeWireSettings(forced).leastCycle == 18_375_000)
    let other = forced.replacing("force-rate' value:'0'", with: "force-rate' value:'44100'")
    #expect(PipeWireSettings(other).leastCycle == 20_000_000)
  }

  @Test(arguments: [
    "", "no server", "key:'clock.rate' value:'0'", "a'clock.rate'b'99999999999999999'",
  ])
  func whatMakesNoSenseIsNone(text: String) {
    #expect(PipeWireSettings(text).leastCycle == 0)
  }

  /// The helper's output, as the program writes it.
  @Test(.timeLimit(.minutes(10))) func anotherCycleIsNews() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).txt")
    defer { try? FileManager.default.removeItem(at: file) }  // It is the test's own.
    let forced = Self.usual + "\nupdate: id:0 key:'clock.force-quantum' value:'2048' type:''\n"
    try Data(forced.utf8).write(to: file)
    let same = try #require(PipeWireCycle.Watch(from: 42_666_667, by: "cat \(file.path)"))
    #expect(Self.news(of: same) == [.end])
    let other = try #require(PipeWireCycle.Watch(from: 333_334, by: "cat \(file.path)"))
    #expect(Self.news(of: other).contains(.cycle(from: 333_334, to: 42_666_667)))
  }

  @Test(.timeLimit(.minutes(10))) func theHelperEndsWithTheWatch() throws {
    var watch = PipeWireCycle.Watch(from: 0, by: "echo $$; exec sleep 1000")
    #expect(watch != nil)
    // Closing waits for the helper.
    watch = nil
  }

  // All news until the end, or until none comes for now.
  private static func news(of watch: PipeWireCycle.Watch) -> [PipeWireCycle.Watch.News] {
    var all: [PipeWireCycle.Watch.News] = []
    var waited = pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)
    while all.last != .end {
      _ = unsafe poll(&waited, 1, -1)
      let news = watch.takeNews()
      if news != .none { all.append(news) }
    }
    return all
  }
}
