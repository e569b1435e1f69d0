import AVFAudio
import ArgumentParser
import CallSecurity
import Foundation
import Localization
import MediaCore
import RealTime
import SidetonePhone

/// Writes the report of a session's calls to a file, anew whenever one has ended.
struct CallRecorder {
  private let file: URL
  private let begin: Date
  private let start = MonotonicClock.now()
  private var history = CallHistory()

  /// Creates a recorder that writes to `file`; `begin` is the date in the report, whose times count
  /// from the recorder's creation.
  init(file: URL, begin: Date) {
    self.file = file
    self.begin = begin
  }

  /// Takes in an event, and returns the reason why the file could not be written; nil if it was
  /// written or need not be.
  mutating func note(_ event: CallSessionState.Event) -> String? {
    let second = Double(MonotonicClock.now().nanoseconds(since: start)) / 1e9
    switch event {
    case .statistics(let statistics):
      history.note(statistics, at: second)
    case .phone(let event):
      let text = EventPrinter.text(of: event, namesKeys: false, announcesAddresses: false)
      history.note(event, saying: text, at: second)
      if event == .audioActivated {
        let none = String(localized: "none")
        let route = AVAudioSession.sharedInstance().currentRoute
        history.devices = (route.inputs.first?.uid ?? none, route.outputs.first?.uid ?? none)
      }
      if case .ended = event { return write() }
    case .key, .timeIsUp, .interrupted, .linked, .callFailed:
      break
    }
    return nil
  }

  private func write() -> String? {
    let version = SidetoneCommand.configuration.version
    let page = CallReport(history: history, begin: begin, version: version).html
    do {
      // It says who was called, and when: it is for its owner.
      let owned = PrivateFile(file.lastPathComponent, in: file.deletingLastPathComponent())
      try owned.write(Array(page.utf8), keepsDevices: true)
      return nil
    } catch {
      return String(localized: "cannot write the report: \("\(error)")")
    }
  }
}
