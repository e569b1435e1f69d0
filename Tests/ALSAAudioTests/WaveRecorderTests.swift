import Foundation
import MediaCore
import Testing

@testable import ALSAAudio

struct WaveRecorderTests {
  private static func record(_ samples: [Float], to path: String) throws {
    var recorder = try WaveRecorder(path: path, rate: .voice)
    recorder.write(SampleBuffer(samples), count: samples.count)
  }

  private static func recorded(_ path: String) throws -> [Float] {
    let file = try SoundFile(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
    // 16 bits are a little coarser.
    return file.samples.map { ($0 * 64).rounded() / 64 }
  }

  @Test func recordingGoesOnInOneProgramAndBeginsAnewInAnother() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("heard.wav").path
    // What another program left there is no part of it.
    try Data(repeating: 7, count: 9_000).write(to: URL(fileURLWithPath: path))
    try Self.record([0.5, 0.25], to: path)
    #expect(try Self.recorded(path) == [0.5, 0.25])
    try Self.record([-0.5], to: path)
    #expect(try Self.recorded(path) == [0.5, 0.25, -0.5])
    try FileManager.default.removeItem(atPath: path)
    try Self.record([0.125], to: path)
    #expect(try Self.recorded(path) == [0.125])
  }
}
