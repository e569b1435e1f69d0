import CLinux
import Foundation
import MediaCore
import RealTime
import Testing

@testable import ALSAAudio

/// Both sides of a headset, of files and of nothing.
struct HeadsetTests {
  private static func wave(_ value: Float, count: Int) -> [UInt8] {
    WaveFile.header(rateHertz: 48_000, sampleCount: count)
      + WaveFile.encode([Float](repeating: value, count: count))
  }

  /// Waits for the headset's own descriptors and reads, until `count` frames have come.
  private static func capture(_ headset: inout Headset, _ count: Int) -> [Float] {
    var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 8)
    var block = SampleBuffer(repeating: 0, count: 480)
    var heard: [Float] = []
    while heard.count < count {
      let used = headset.pollDescriptors(&descriptors, from: 0)
      _ = unsafe realtime_poll(descriptors.address, UInt32(used), -1)
      headset.acknowledge(&descriptors, from: 0)
      let transfer = headset.read(into: &block)
      heard += (0..<transfer.frames).map { block[$0] }
    }
    return Array(heard.prefix(count))
  }

  @Test func eachSideHasItsOwnRateAndPeriod() throws {
    let folder = try TestFolder()
    let said = try folder.write(
      WaveFile.header(rateHertz: 16_000, sampleCount: 1) + WaveFile.encode([0]),
      as: "said.wav"
    )
    let headset = try Headset(
      capture: .file(said),
      playback: .null,
      wishes: DeviceWishes(periodNanoseconds: 5_000_000)
    )
    let (captureRate, capturePeriod) = (headset.captureRate.hertz, headset.capturePeriod)
    #expect(captureRate == 16_000 && capturePeriod == 80)
    let (playbackRate, playbackPeriod) = (headset.playbackRate, headset.playbackPeriod)
    #expect(playbackRate == .voice && playbackPeriod == 240)
    // A second can be queued.
    let (capacity, isOneDevice) = (headset.playbackCapacity, headset.isOneDevice)
    #expect(capacity == 48_000 && !isOneDevice)
  }

  @Test func itIsWokenByItsMicrophoneAndWrittenToInTime() throws {
    let folder = try TestFolder()
    let said = try folder.write(Self.wave(0.25, count: 960), as: "said.wav")
    let heard = "\(folder.path)/heard.wav"
    do {
      var headset = try Headset(capture: .file(said), playback: .file(heard))
      try headset.start(fill: 48_000)
      let (queued, delay) = (headset.queuedFrames(), headset.playbackDelayFrames())
      #expect(queued <= 48_000 && delay <= 48_000)
      let block = SampleBuffer(repeating: 0.5, count: 120)
      let written = headset.write(block, count: 120)
      #expect(written.frames == 120)
      let captured = Self.capture(&headset, 1_200)
      #expect(captured[..<960].allSatisfy { abs($0 - 0.25) < 1e-4 })
      #expect(captured[960...].allSatisfy { $0 == 0 })
    }
    let played = try SoundFile(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: heard))))
    #expect(played.samples.count >= 48_120)
    #expect(played.samples[..<48_000].allSatisfy { $0 == 0 }, "the silence that it begins with")
  }

  /// A microphone that is plugged in takes the place of the one that was lost.
  @Test func sidesAreExchangedWithAllThatBelongsToThem() throws {
    let folder = try TestFolder()
    let loud = try folder.write(Self.wave(0.5, count: 48_000), as: "loud.wav")
    var headset = try Headset(capture: .null, playback: .null)
    var other = try Headset(capture: .file(loud), playback: .null)
    try headset.start(fill: 0)
    try other.start(fill: 0)
    headset.exchange(.capture, with: &other)
    #expect(Self.capture(&headset, 480).allSatisfy { abs($0 - 0.5) < 1e-4 })
    #expect(Self.capture(&other, 480).allSatisfy { $0 == 0 })
    headset.exchange(.playback, with: &other)
    #expect(Self.capture(&headset, 480).allSatisfy { abs($0 - 0.5) < 1e-4 })
  }

  @Test func whatIsWrongWithEitherSideIsSaid() throws {
    let microphone = #expect(throws: AudioDeviceError.self) {
      _ = try Headset(capture: .file("/no/such.wav"), playback: .null)
    }
    #expect(microphone?.device == "file:/no/such.wav" && microphone?.kind == .badFile)
    let speaker = #expect(throws: AudioDeviceError.self) {
      _ = try Headset(capture: .null, playback: .pcm("no-such-device"))
    }
    #expect(speaker?.device == "no-such-device" && speaker?.kind == .notFound)
  }
}
