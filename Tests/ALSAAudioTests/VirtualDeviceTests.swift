import CLinux
import Foundation
import MediaCore
import RealTime
import Testing

@testable import ALSAAudio

/// Microphones and loudspeakers that are files, or nothing, moved by a clock of whole periods.
struct VirtualDeviceTests {
  private static let wishes = DeviceWishes(periodNanoseconds: 10_000_000)

  private static func instant(_ milliseconds: Int) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  /// An instant so long ago that everything is due.
  private static var longAgo: MonotonicInstant {
    MonotonicClock.now().advanced(byNanoseconds: -3_600_000_000_000)
  }

  private static func wave(hertz: Int, _ samples: [Float]) -> [UInt8] {
    WaveFile.header(rateHertz: hertz, sampleCount: samples.count) + WaveFile.encode(samples)
  }

  private static func read(_ microphone: inout VirtualMicrophone, _ count: Int) -> [Float] {
    var block = SampleBuffer(repeating: 9, count: count)
    let transfer = microphone.read(into: &block)
    #expect(transfer.lost == 0 && !transfer.isGone)
    return (0..<transfer.frames).map { block[$0] }
  }

  // MARK: Clock

  @Test func framesPassInWholePeriods() throws {
    var clock = try VirtualClock(device: "null", periodNanoseconds: 10_000_000)
    let before = clock.frames(at: Self.instant(500), rate: .voice)
    #expect(before == 0, "it has not been started")
    clock.start(at: Self.instant(500))
    // The last one is a time that went back.
    let frames = [509, 510, 535, 400].map { clock.frames(at: Self.instant($0), rate: .voice) }
    #expect(frames == [0, 480, 3 * 480, 0])
    let narrow = clock.frames(at: Self.instant(535), rate: SampleRate(hertz: 8_000))
    #expect(narrow == 240)
  }

  @Test(arguments: [(Int64(0), Int64(500_000)), (-5, 500_000), (1 << 60, 1_000_000_000)])
  func periodsAreNeitherEndlessNorNothing(asked: Int64, period: Int64) throws {
    let clock = try VirtualClock(device: "null", periodNanoseconds: asked)
    let granted = clock.periodNanoseconds
    #expect(granted == period)
  }

  @Test func theTimerWakesAPoll() throws {
    var clock = try VirtualClock(device: "null", periodNanoseconds: 1_000_000)
    clock.start(at: MonotonicClock.now())
    var descriptors = FixedArray<pollfd>(repeating: pollfd(), count: 2)
    let counts = [2, 1].map { clock.pollDescriptor(&descriptors, at: $0) }
    #expect(counts == [0, 1], "there is room for two")
    let ready = unsafe realtime_poll(descriptors.address + 1, 1, -1)
    #expect(ready == 1)
    clock.acknowledge()
  }

  // MARK: Microphone

  @Test func aFileIsCapturedOnceAndThenThereIsSilence() throws {
    let folder = try TestFolder()
    let samples: [Float] = (1...300).map { Float($0) / 512 }
    let path = try folder.write(Self.wave(hertz: 16_000, samples), as: "said.wav")
    var microphone = try VirtualMicrophone(path: path, wishes: Self.wishes)
    let hertz = microphone.rate.hertz
    #expect(hertz == 16_000)
    let early = Self.read(&microphone, 100)
    #expect(early == [], "it has not been started")
    microphone.clock.start(at: Self.longAgo)
    let heard = Self.read(&microphone, 200) + Self.read(&microphone, 200)
    #expect(heard.count == 400)
    #expect(zip(heard, samples).allSatisfy { abs($0 - $1) < 1e-4 })
    #expect(heard[300...].allSatisfy { $0 == 0 })
    let last = Self.read(&microphone, 50)
    #expect(last == [Float](repeating: 0, count: 50))
  }

  /// Sound that has piled up during a stall comes in pieces that the voice path has room for.
  @Test(arguments: [48_000, 8_000])
  func noReadIsLongerThanHalfASecond(hertz: Int) throws {
    let folder = try TestFolder()
    let path = try folder.write(Self.wave(hertz: hertz, [0.5]), as: "said.wav")
    var microphone = try VirtualMicrophone(path: path, wishes: Self.wishes)
    microphone.clock.start(at: Self.longAgo)
    let count = Self.read(&microphone, 96_000).count
    let pending = microphone.pendingFrames()
    #expect(count == hertz / 2 && pending > 3_000 * hertz)
  }

  @Test func theNullMicrophoneIsSilent() throws {
    var microphone = try VirtualMicrophone(wishes: Self.wishes)
    microphone.clock.start(at: Self.longAgo)
    let (rate, heard) = (microphone.rate, Self.read(&microphone, 480))
    #expect(rate == .voice && heard == [Float](repeating: 0, count: 480))
  }

  @Test(arguments: [
    ("no such file", [], "there is no such file"),
    ("text.wav", Array("hello".utf8), "it is no sound file"),
    (
      "cut.wav", Array(WaveFile.header(rateHertz: 8_000, sampleCount: 9).prefix(20)),
      "it is no sound file"
    ),
  ])
  func otherFilesAreRefusedInWords(name: String, bytes: [UInt8], words: String) throws {
    let folder = try TestFolder()
    let path = bytes.isEmpty ? "\(folder.path)/\(name)" : try folder.write(bytes, as: name)
    let error = #expect(throws: AudioDeviceError.self) {
      _ = try VirtualMicrophone(path: path, wishes: Self.wishes)
    }
    #expect(error?.kind == .badFile && error?.device == "file:\(path)")
    #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
  }

  @Test func aFolderIsNoSound() throws {
    let folder = try TestFolder()
    let error = #expect(throws: AudioDeviceError.self) {
      _ = try VirtualMicrophone(path: folder.path, wishes: Self.wishes)
    }
    #expect(error?.reason == "it cannot be read")
  }

  // MARK: Loudspeaker

  @Test func whatIsQueuedIsWhatTheClockHasNotTaken() throws {
    var speaker = try VirtualSpeaker(wishes: Self.wishes)
    // The clock takes nothing before the end of the first period.
    speaker.start(fill: 4_800_000, at: MonotonicClock.now())
    let queued = speaker.queuedFrames()
    #expect(queued <= 4_800_000 && queued > 0)
    let block = SampleBuffer(repeating: 0, count: 480)
    let transfer = speaker.write(block, count: 480)
    #expect(transfer == DeviceTransfer(frames: 480))
  }

  @Test func soundThatComesTooLateFollowsSilence() throws {
    let folder = try TestFolder()
    let path = "\(folder.path)/heard.wav"
    do {
      var speaker = try VirtualSpeaker(path: path, wishes: Self.wishes)
      let tenth = MonotonicClock.now().advanced(byNanoseconds: -100_000_000)
      speaker.start(fill: 480, at: tenth)
      let block = SampleBuffer(repeating: 0.5, count: 240)
      let transfer = speaker.write(block, count: 240)
      // A tenth of a second has passed, of which 10 ms were queued.
      #expect(transfer.frames == 240 && transfer.lost >= 4_320, "\(transfer)")
      #expect(transfer.lost % 480 == 0, "whole periods")
    }
    let wave = try SoundFile(parsing: [UInt8](Data(contentsOf: URL(fileURLWithPath: path))))
    #expect(wave.rateHertz == 48_000 && wave.samples.count >= 480 + 4_320 + 240)
    #expect(wave.samples.dropLast(240).allSatisfy { $0 == 0 })
    #expect(wave.samples.suffix(240).allSatisfy { abs($0 - 0.5) < 1e-4 })
  }

  @Test func aFileThatCannotBeWrittenIsRefused() throws {
    let error = #expect(throws: AudioDeviceError.self) {
      _ = try VirtualSpeaker(path: "/proc/none/heard.wav", wishes: Self.wishes)
    }
    #expect(error?.kind == .badFile && error?.device == "file:/proc/none/heard.wav")
  }
}
