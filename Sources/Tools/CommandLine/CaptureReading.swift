import Foundation
import Glibc
import Localization
import RealTime
import Simulation

/// Reader of network captures, by libpcap or else by Wireshark's `tshark` if that is installed.
enum CaptureReading {
  /// Reads the RTP in a file, in a pipe or, as `-`, in the standard input; nil if it is no capture.
  ///
  /// A pipe's content is copied to a file without a name first, since a capture is read twice.
  static func capture(inFileOrPipe name: String) throws -> PacketCapture? {
    let path = name == "-" ? "/dev/stdin" : name
    var status = stat()
    let isKnown = unsafe stat(path, &status) == 0
    guard isKnown, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else {
      return try capture(at: path, named: name)
    }
    let pipe = name == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: path)
    guard let pipe else { throw CommandFailure("cannot read \"\(path)\"") }
    var place = Array((NSTemporaryDirectory() + "/sidetone-XXXXXX").utf8CString)
    var descriptor: CInt = -1
    do {
      var piece = try pipe.read(upToCount: 1 << 16) ?? Data()
      guard CaptureFile.isCapture(beginning: [UInt8](piece.prefix(16))) else { return nil }
      // A file without a name goes with the program, however that ends.
      descriptor = unsafe mkstemp(&place)
      guard descriptor >= 0 else {
        let error = SystemError(operation: "a copy cannot be made", code: errno)
        throw CommandFailure(reason: "\(error)")
      }
      _ = unsafe unlink(&place)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      while !piece.isEmpty {
        try FileHandle(fileDescriptor: descriptor).write(contentsOf: piece)
        piece = try pipe.read(upToCount: 1 << 20) ?? Data()
      }
    } catch let error as CommandFailure {
      throw error
    } catch {
      if descriptor >= 0 { close(descriptor) }
      throw CommandFailure(reason: "\"\(name)\" cannot be copied: \(error.localizedDescription)")
    }
    defer { close(descriptor) }
    return try capture(at: "/proc/\(getpid())/fd/\(descriptor)", named: name)
  }

  /// Reads the RTP in a file, which errors call by `name`; nil if it is no capture.
  static func capture(at path: String, named name: String? = nil) throws -> PacketCapture? {
    guard let file = FileHandle(forReadingAtPath: path) else {
      throw CommandFailure("cannot read \"\(name ?? path)\"")
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
      let file = name ?? path
      throw CommandFailure(reason: "\"\(file)\" cannot be read: \(reason)\(advice)")
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
    guard let capture = try capture(inFileOrPipe: path) else { return nil }
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
