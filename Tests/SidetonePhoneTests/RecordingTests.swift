import Foundation
import Synchronization
import Testing
import VoiceEngine

@testable import SidetonePhone

struct RecordingTests {
  private static func sound(said: [Float], heard: [Float]) -> RecordedSound {
    var sound = RecordedSound()
    sound.said = said
    sound.heard = heard
    return sound
  }

  @Test func sidesAreBesideEachOtherThoughTheyComeAtTheirOwnPace() {
    var alignment = StereoAlignment()
    #expect(alignment.add(Self.sound(said: [1, 2, 3], heard: [-1])) == [1, -1])
    #expect(alignment.add(Self.sound(said: [], heard: [-2, -3])) == [2, -2, 3, -3])
    #expect(alignment.add(Self.sound(said: [4], heard: [])) == [])
    #expect(alignment.finish() == [4, 0])
  }

  @Test func aSideThatIsMissingIsSilence() {
    var alignment = StereoAlignment()
    let second = [Float](repeating: 1, count: 48_000)
    let pairs = alignment.add(Self.sound(said: [], heard: second))
    #expect(pairs.count == 48_000, "half a second may still come")
    #expect(stride(from: 0, to: pairs.count, by: 2).allSatisfy { pairs[$0] == 0 })
    #expect(alignment.finish().count == 48_000)
  }

  @Test func aFileIsNeverOverwritten() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let file = folder.appendingPathComponent("a.wav")
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try CallRecording(file) { _ in }
    #expect(throws: PhoneError.self) { try CallRecording(file) { _ in } }
    #expect(await first.close() == nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func aFullDiskEndsTheRecordingAndSaysSo() async throws {
    let (failures, continuation) = AsyncStream<Void>.makeStream()
    let device = URL(fileURLWithPath: "/dev/full")
    let descriptor = unsafe open(device.path, O_WRONLY)
    try #require(descriptor >= 0)
    let recording = CallRecording(device, descriptor: descriptor) { _ in continuation.yield() }
    recording.append(Self.sound(said: [1], heard: [1]))
    var failure = failures.makeAsyncIterator()
    #expect(await failure.next() != nil)
    #expect(await recording.close() != nil)
  }

  @Test(.timeLimit(.minutes(10)))
  func aDiskThatHangsEndsTheRecordingForGood() async throws {
    let (failures, continuation) = AsyncStream<Void>.makeStream()
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("a.wav")
    let recording = try CallRecording(file) { _ in continuation.yield() }
    recording.queue.suspend()
    defer { recording.queue.resume() }
    let second = [Float](repeating: 0, count: 48_000)
    for _ in 0...60 { recording.append(Self.sound(said: second, heard: second)) }
    var failure = failures.makeAsyncIterator()
    #expect(await failure.next() != nil)
    #expect(await recording.close() == "the disk was too slow")
  }
}
