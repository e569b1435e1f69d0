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
    #expect(PipeWireCycle.nanoseconds(in: Self.usual) == 333_334)
  }

  /// PipeWire's own settings for virtual machines.
  @Test func aMachineMayHaveALongLeastCycle() {
    let text = Self.usual.replacing("min-quantum' value:'16'", with: "min-quantum' value:'1024'")
    #expect(PipeWireCycle.nanoseconds(in: text) == 21_333_334)
  }

  @Test func theUserMayForceOne() {
    let forced = Self.usual.replacing(
      "force-quantum' value:'0'",
      with: "force-quantum' value:'882'"
    )
    #expect(PipeWireCycle.nanoseconds(in: forced) == 18_375_000)
    let other = forced.replacing("force-rate' value:'0'", with: "force-rate' value:'44100'")
    #expect(PipeWireCycle.nanoseconds(in: other) == 20_000_000)
  }

  @Test(arguments: [
    "", "no server", "key:'clock.rate' value:'0'", "a'clock.rate'b'99999999999999999'",
  ])
  func whatMakesNoSenseIsNone(text: String) {
    #expect(PipeWireCycle.nanoseconds(in: text) == 0)
  }
}
