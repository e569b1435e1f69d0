package import ProgramRig
package import Foundation

/// One of the two ends of a call that a program is to make.
package struct CallEnd {
  /// The ALSA name of the headset.
  package let headset: String
  /// This end's address.
  package let host: String
  /// Ports that are free: `port` and the nine after it.
  package let port: Int
  /// The one of them at which a program takes its voice that can be told so.
  package var mediaPort: Int { port + 4 }
  /// Where the program may keep files.
  package let folder: URL

  /// An end.
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
  /// What the tables call it, with the settings that matter.
  var name: String { get }
  /// What has to be installed, to be named when it is missing.
  var package: String { get }
  /// The file that is there when it is installed.
  var executable: String { get }
  /// Whether it takes more than one processor to be called with it.
  var needsAllProcessors: Bool { get }
  /// What runs where the call is answered; started first.
  func answering(_ end: CallEnd, from far: CallEnd) throws -> [Invocation]
  /// What runs where the call is placed.
  func calling(_ end: CallEnd, to far: CallEnd) throws -> [Invocation]
}

extension CallProgram {
  /// Most programs take a few per cent of one.
  package var needsAllProcessors: Bool { false }
}
