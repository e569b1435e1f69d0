package import ProgramRig
package import Foundation

/// One of the two ends of a benchmark call.
package struct CallEnd {
  /// The ALSA name of the headset.
  package let headset: String
  /// IP address of this end.
  package let host: String
  /// First of the ten ports that are set aside for this end.
  package let port: Int
  /// Port among the ten for received media, for programs that let it be chosen.
  package var mediaPort: Int { port + 4 }
  /// Folder in which the program may keep files.
  package let folder: URL

  /// Creates an end.
  package init(headset: String, host: String, port: Int, folder: URL) {
    self.headset = headset
    self.host = host
    self.port = port
    self.folder = folder
  }
}

/// A program that carries a voice between two headsets: how its two ends are started.
///
/// To compare another one, write such a type and put it into the list of `bench call`.
package protocol CallProgram {
  /// Name in the tables, with the settings that matter.
  var name: String { get }
  /// Package to install, named when the program is missing.
  var package: String { get }
  /// Path of the file by whose existence the program counts as installed.
  var executable: String { get }
  /// True if calls with the program need more than one processor.
  var needsAllProcessors: Bool { get }
  /// Returns the commands to run at the called end, which are started first.
  func answering(_ end: CallEnd, from far: CallEnd) throws -> [Invocation]
  /// Returns the commands to run at the calling end.
  func calling(_ end: CallEnd, to far: CallEnd) throws -> [Invocation]
}

extension CallProgram {
  /// False, as most programs take a few per cent of one processor.
  package var needsAllProcessors: Bool { false }
}
