import MediaCore
import RealTime
import Testing

@testable import ALSAAudio

struct SampleFormatTests {
  private static func stored(_ sample: Float, as format: SampleFormat) -> [UInt8] {
    var bytes = FixedBytes(repeating: 0xAA, count: 12)
    format.store(sample, to: &bytes, at: 4)
    return (0..<12).map { bytes[$0] }
  }

  private static func back(_ sample: Float, by format: SampleFormat) -> Float {
    format.load(FixedBytes(stored(sample, as: format)), at: 4)
  }

  @Test(arguments: SampleFormat.allCases)
  func samplesComeBackWithinTheResolutionOfTheFormat(format: SampleFormat) {
    let resolution: Float = format == .int16 ? 1.0 / 16_384 : 1.0 / 4_194_304
    for step in -100...100 {
      let sample = Float(step) / 100
      #expect(abs(Self.back(sample, by: format) - sample) <= resolution, "\(format), \(sample)")
    }
    #expect(Self.back(0, by: format) == 0, "silence stays silence")
  }

  @Test(arguments: SampleFormat.allCases)
  func whatIsTooLoudIsLimitedAndNotWrapped(format: SampleFormat) {
    for (sample, limited) in [(1.5, 1), (-7, -1), (1e30, 1), (.infinity, 0), (.nan, 0)]
      as [(Float, Float)]
    {
      #expect(abs(Self.back(sample, by: format) - limited) < 0.001, "\(format), \(sample)")
    }
  }

  @Test(arguments: SampleFormat.allCases)
  func sampleTakesItsBytesAndNoOthers(format: SampleFormat) {
    let bytes = Self.stored(-1, as: format)
    #expect(bytes[..<4].allSatisfy { $0 == 0xAA })
    #expect(bytes[(4 + format.bytesPerSample)...].allSatisfy { $0 == 0xAA })
    #expect(bytes[4..<4 + format.bytesPerSample].contains { $0 != 0xAA })
  }

  @Test func layoutsAreLittleEndian() {
    #expect(Array(Self.stored(1, as: .int16)[4..<6]) == [0xFF, 0x7F])
    #expect(Array(Self.stored(-1, as: .int16)[4..<6]) == [0x01, 0x80])
    #expect(Array(Self.stored(1, as: .int24Packed)[4..<7]) == [0xFF, 0xFF, 0x7F])
    #expect(Array(Self.stored(-1, as: .int24)[4..<8]) == [0x01, 0x00, 0x80, 0xFF])
    #expect(Array(Self.stored(0.5, as: .float32)[4..<8]) == [0x00, 0x00, 0x00, 0x3F])
    // The least of each, which no store writes.
    let bytes = FixedBytes([0x00, 0x80, 0x00, 0x00, 0x00, 0x80])
    #expect(SampleFormat.int16.load(bytes, at: 0) == -1)
    #expect(SampleFormat.int32.load(bytes, at: 2) == -1)
  }

  @Test func floatsThatAreNoneBecomeSilence() {
    var block = SampleBuffer(repeating: 1, count: 3)
    let source: [Float] = [.nan, 0.25, -.infinity]
    let bytes = source.flatMap { sample in
      (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * UInt32($0))) }
    }
    SampleFormat.float32.load(FixedBytes(bytes), count: 3, into: &block)
    #expect((0..<3).map { block[$0] } == [0, 0.25, 0])
    var written = FixedBytes(repeating: 0, count: 12)
    SampleFormat.float32.store(SampleBuffer([.nan, 2, -0.5]), count: 3, to: &written)
    #expect((0..<3).map { SampleFormat.float32.load(written, at: 4 * $0) } == [0, 1, -0.5])
  }
}

struct DeviceNameTests {
  @Test(arguments: [
    "hw:1,0", "default", "null", "file:/tmp/a b.wav", "file:", "plughw:CARD=X,DEV=0",
  ])
  func nameReadsAsItIsWritten(text: String) {
    #expect(DeviceName(text).description == text)
    #expect(DeviceName(DeviceName(text).description) == DeviceName(text))
  }

  @Test func kindsAreToldApart() {
    #expect(DeviceName("null") == .null && DeviceName("nullx") == .pcm("nullx"))
    #expect(DeviceName("file:x.wav") == .file("x.wav") && DeviceName("files") == .pcm("files"))
    #expect(DeviceName("") == .pcm(""))
  }

  @Test func cardNamesAreUnderstoodAsALSADoes() throws {
    for (text, card, device) in [
      ("hw:1,0", "1", "0"), ("hw:1", "1", "0"), ("plughw:Headset,2", "Headset", "2"),
      ("hw:CARD=Headset,DEV=3", "Headset", "3"), ("sysdefault:DEV=1,CARD=PCH", "PCH", "1"),
      ("front:CARD=PCH", "PCH", "0"),
    ] {
      let name = try #require(CardName(.pcm(text)), "\(text)")
      #expect(name.card == card && name.device == device, "\(text)")
    }
    for text in ["default", "headset:1", "hw:", "hw:DEV=0", "jack", "pulse", ":1"] {
      #expect(CardName(.pcm(text)) == nil, "\(text)")
    }
    #expect(CardName(.null) == nil && CardName(.file("hw:1,0")) == nil)
  }

  @Test func cardThatReturnsUnderAnotherNumberIsRenamed() throws {
    for (text, renamed) in [
      ("hw:1,2", "hw:7,2"), ("plughw:CARD=A,DEV=3", "plughw:CARD=7,DEV=3"),
      ("sysdefault:DEV=1,CARD=PCH", "sysdefault:DEV=1,CARD=7"),
    ] {
      let name = try #require(CardName(.pcm(text)))
      #expect(name.renamed(toCard: 7) == .pcm(renamed))
    }
  }
}

struct SoundCardTests {
  private static func card(_ number: Int, product: String, serial: String = "", path: String)
    -> SoundCard
  {
    SoundCard(
      number: number,
      id: "C\(number)",
      name: "card \(number)",
      identity: .init(product: product, serial: serial, path: path)
    )
  }

  @Test func cardWithASerialNumberIsKnownAtEveryPort() {
    let cards = [
      Self.card(0, product: "1:2", serial: "A", path: "/usb/1"),
      Self.card(1, product: "1:2", serial: "B", path: "/usb/2"),
    ]
    let wanted = SoundCard.Identity(product: "1:2", serial: "B", path: "/usb/9")
    #expect(SoundCard.card(with: wanted, among: cards)?.number == 1)
    let other = SoundCard.Identity(product: "1:2", serial: "C", path: "/usb/1")
    #expect(SoundCard.card(with: other, among: cards) == nil, "another one in the same port")
  }

  @Test func cardWithoutASerialNumberIsKnownByItsPortOrAsTheOnlyOne() {
    let one = [Self.card(3, product: "1:2", path: "/usb/1")]
    let two = one + [Self.card(4, product: "1:2", path: "/usb/2")]
    let moved = SoundCard.Identity(product: "1:2", path: "/usb/7")
    #expect(SoundCard.card(with: moved, among: one)?.number == 3)
    #expect(SoundCard.card(with: moved, among: two) == nil, "two look alike")
    let inPlace = SoundCard.Identity(product: "1:2", path: "/usb/2")
    #expect(SoundCard.card(with: inPlace, among: two)?.number == 4)
  }

  @Test func builtInCardIsKnownByItsPlaceAlone() {
    let cards = [
      Self.card(0, product: "", path: "/pci/1"), Self.card(1, product: "", path: "/pci/2"),
    ]
    #expect(
      SoundCard.card(with: .init(path: "/pci/2"), among: cards)?.number == 1
    )
    #expect(SoundCard.card(with: .init(path: "/pci/3"), among: cards) == nil)
    #expect(SoundCard.card(with: .init(product: "1:2", path: "/pci/1"), among: cards) == nil)
  }

  @Test func labelNamesUSB() {
    #expect(Self.card(0, product: "", path: "").label == "card 0")
    #expect(Self.card(0, product: "1:2", path: "").label == "card 0 (USB)")
  }
}

struct VirtualDeviceTests {
  private static func reason(_ capture: DeviceName, _ playback: DeviceName) -> String? {
    do {
      _ = try Headset(capture: capture, playback: playback)
      return nil
    } catch {
      return error.reason
    }
  }

  @Test func filesThatCannotBeAMicrophoneAreRefusedInWords() throws {
    let folder = try TestFolder()
    #expect(Self.reason(.file("/nowhere/x.wav"), .null) == "there is no such file")
    #expect(Self.reason(.file(folder.path), .null) == "it cannot be read")
    for (name, bytes, words) in [
      ("text.wav", Array("hello".utf8), "not a WAV file"),
      ("cut.wav", Array(WaveFile.header(rateHertz: 48_000, sampleCount: 9).prefix(20)), "damaged"),
    ] {
      let file = try folder.write(bytes, as: name)
      #expect(Self.reason(.file(file), .null)?.contains(words) == true, "\(name)")
    }
    #expect(Self.reason(.null, .file("/nowhere/x.wav")) != nil)
    #expect(Self.reason(.null, .null) == nil)
  }

  @Test func microphoneOfAFileSpeaksOnceAndIsSilentThen() throws {
    let folder = try TestFolder()
    let samples = [Float](repeating: 0.5, count: 480)
    let bytes = WaveFile.header(rateHertz: 48_000, sampleCount: 480) + WaveFile.encode(samples)
    var headset = try Headset(capture: .file(try folder.write(bytes, as: "a.wav")), playback: .null)
    try headset.start(fill: 0)
    var block = SampleBuffer(repeating: 0, count: 4_800)
    var heard: [Float] = []
    while heard.count < 2_400 {
      let transfer = headset.read(into: &block)
      for index in 0..<transfer.frames { heard.append(block[index]) }
    }
    #expect(heard[..<480].allSatisfy { abs($0 - 0.5) < 0.001 })
    #expect(heard[480...].allSatisfy { $0 == 0 })
  }
}
