import CLinux
import Foundation
import MediaCore
import RealTime
import Testing

@testable import ALSAAudio

/// Streams of alsa-lib, over its plugins that need no card: `null`, which takes and gives as much
/// as is asked for, and `tee`, which writes what is played to a file.
struct PCMTests {
  private static let wishes = DeviceWishes(periodNanoseconds: 5_000_000)

  private static func open(_ name: String, _ direction: PCM.Direction) throws -> PCM {
    try PCM.open(name, direction: direction, wishes: wishes)
  }

  @Test func theNearestRateAndPeriodAreGranted() throws {
    let pcm = try Self.open("null", .playback)
    let (rate, period) = (pcm.rate, pcm.period)
    #expect(rate == .voice && period == 240)
    // 80 ms, of which the fill control uses what it needs.
    let (buffer, isOfServer) = (pcm.bufferFrames, pcm.isOfServer)
    #expect(buffer >= 3_840)
    #expect(isOfServer, "it is of no card")
  }

  @Test func whatIsPlayedFollowsTheSilence() throws {
    let folder = try TestFolder()
    let file = "\(folder.path)/played.raw"
    do {
      var pcm = try Self.open("tee:null,\(file),raw", .playback).started(fill: 48, name: "tee")
      var block = SampleBuffer(repeating: 0, count: 96)
      for index in 0..<96 { block[index] = Float(index) / 128 }
      let transfer = pcm.write(block, count: 96, fill: 48)
      #expect(transfer == DeviceTransfer(frames: 96))
    }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    #expect(!bytes.isEmpty && bytes.prefix(48 * 2).allSatisfy { $0 == 0 })
    #expect(bytes.suffix(8).contains { $0 != 0 })
  }

  @Test func aMicrophoneGivesWhatIsAskedFor() throws {
    var pcm = try Self.open("null", .capture).started(fill: 0, name: "null")
    var block = SampleBuffer(repeating: 9, count: 240)
    let transfer = pcm.read(into: &block)
    #expect(transfer.frames == 240 && transfer.lost == 0 && !transfer.isGone)
    let heard = (0..<240).map { block[$0] }
    #expect(heard.allSatisfy { $0 == 0 })
    let (ring, delay) = (pcm.ringFrames(), pcm.delayFrames())
    #expect(ring >= 0 && delay <= 48_000)
  }

  @Test func aReadIsNoLongerThanItsBlock() throws {
    var pcm = try Self.open("null", .capture).started(fill: 0, name: "null")
    var block = SampleBuffer(repeating: 9, count: 100_000)
    let transfer = pcm.read(into: &block)
    let beyond = block[PCM.blockFrames]
    #expect(transfer.frames == PCM.blockFrames && beyond == 9)
  }

  @Test func whatIsNotThereIsNotFound() {
    let error = #expect(throws: AudioDeviceError.self) {
      _ = try Self.open("no-such-device", .playback)
    }
    #expect(error?.kind == .notFound && error?.device == "no-such-device")
  }

  @Test(arguments: [
    (ENOENT, AudioDeviceError.Kind.notFound), (ENXIO, .notFound), (EBUSY, .busy), (EAGAIN, .busy),
    (ENODEV, .lost), (EINVAL, .unsupportedFormat), (EIO, .other),
  ])
  func codesOfTheLibraryAreSaidInWords(code: CInt, kind: AudioDeviceError.Kind) {
    let error = PCM.error(device: "hw:0", operation: "snd_pcm_hw_params", code: -code)
    #expect(error.kind == kind && !error.reason.isEmpty)
    #expect(error.operation == "snd_pcm_hw_params" && error.device == "hw:0")
  }
}
