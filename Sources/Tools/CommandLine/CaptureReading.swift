import Foundation
import Localization
import Simulation

/// Reader of network captures, by libpcap or else by Wireshark's `tshark` if that is installed.
enum CaptureReading {
  /// Reads the RTP in a file; nil if it is no capture.
  static func capture(at path: String) throws -> PacketCapture? {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw CommandFailure("cannot read \"\(path)\"")
    }
    // A folder has no first bytes, and no capture is empty.
    let beginning = (try? file.read(upToCount: 16)) ?? Data()
    guard CaptureFile.isCapture(beginning: [UInt8](beginning)) else { return nil }
    let rest = beginning.starts(with: "#!".utf8) ? try file.readToEnd() ?? Data() : Data()
    if let capture = CaptureFile.dump([UInt8](beginning + rest)) { return capture }
    do throws(CaptureFile.ReadError) {
      let capture = try CaptureFile.read(path)
      // A few fragments and tunnels are those of something else, and not worth the time.
      guard capture.holdsMore || !capture.hasStreams else { return capture }
      // Without it, what can be read is.
      return (try? byTshark(path)) ?? capture
    } catch {
      // Other links are read by tshark; of a damaged file, what can be read is.
      if let capture = try? byTshark(path) { return capture }
      if let part = try? CaptureFile.read(path, readsDamaged: true), part.hasStreams { return part }
      let reason = if case .unreadable(let reason) = error { reason } else { "" }
      // One that is not installed has no version.
      let hasTshark = (try? ExternalProgram.output(of: "tshark", ["--version"]))?.isWhole == true
      let advice = hasTshark ? ", nor by tshark" : "; with tshark installed it may be"
      throw CommandFailure(reason: "\"\(path)\" cannot be read: \(reason)\(advice)")
    }
  }

  // Of a file that ends within a packet, it prints what is there, and fails.
  private static func byTshark(_ path: String) throws -> PacketCapture {
    let arguments = PacketCapture.fieldArguments(of: path)
    let (lines, isWhole) = try ExternalProgram.output(of: "tshark", arguments)
    var capture = PacketCapture()
    for line in lines.split(separator: "\n") { capture.add(line: line) }
    guard isWhole || capture.hasStreams else { throw CommandFailure(reason: "tshark failed") }
    if !isWhole { capture.noteCut() }
    return capture
  }

  /// Returns the stream to use from a file, by its name if one is given; nil if the file is no
  /// capture.
  static func stream(
    at path: String,
    named name: String?,
    clockRate: Int?
  ) throws -> CapturedStream? {
    guard let capture = try capture(at: path) else { return nil }
    for obstacle in capture.obstacles { Terminal.printError("\"\(path)\": \(obstacle)") }
    do throws(PacketCapture.ChoiceError) {
      let chosen = try PacketCapture.choose(
        among: capture.streams(clockRate: clockRate),
        named: name,
        obstacles: capture.obstacles
      )
      guard chosen.hasDelays else { throw .untimed(chosen.summary) }
      return chosen
    } catch {
      throw CommandFailure(reason: "\"\(path)\" \(error)")
    }
  }
}
