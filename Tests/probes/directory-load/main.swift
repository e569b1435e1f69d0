import CallKit
import CallStore
import Foundation

// The program is its own extension: the call system starts it again, and it answers with two
// million entries.

final class TwoMillion: CXCallDirectoryProvider {
  override func beginRequest(with context: CXCallDirectoryExtensionContext) {
    for index in 0..<1_000_000 {
      context.addBlockingEntry(withNextSequentialPhoneNumber: 4_300_000_000 + Int64(index) * 7)
    }
    for index in 0..<1_000_000 {
      context.addIdentificationEntry(
        withNextSequentialPhoneNumber: 4_900_000_000 + Int64(index) * 7,
        label: "Company \(index % 1_000)"
      )
    }
    context.completeRequest()
  }
}

if ProcessInfo.processInfo.environment["CALLKIT_DIRECTORY_LOAD"] != nil { TwoMillion().main() }

let identifier = "two-million"

func load() async throws {
  try await CXCallDirectoryManager.sharedInstance.reloadExtension(withIdentifier: identifier)
}

let store = try CallStore(in: CallStore.defaultFolder)
try store.setExtension(identifier, isEnabled: true)
for round in ["first load", "second load"] {
  let begin = DispatchTime.now().uptimeNanoseconds
  try await load()
  let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
  print(String(format: "%@ of 2000000 entries  %.1f s", round, seconds))
}

var microseconds: [Double] = []
var known = 0
for index in 0..<20_000 {
  // Each second one is blocked.
  let number = 4_300_000_000 + index * 7 + index % 2
  let begin = DispatchTime.now().uptimeNanoseconds
  if try store.standing(of: "+\(number)").isBlocked { known += 1 }
  microseconds.append(Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e3)
}
print("\(known) of 20000 numbers are known")
microseconds.sort()
print(
  String(
    format: "look-up  median %.1f us  95 %% %.1f us",
    microseconds[microseconds.count / 2],
    microseconds[microseconds.count * 19 / 20]
  )
)

let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") } ?? "VmHWM unknown"
let kilobytes = peak.split(separator: " ").compactMap { Int($0) }.first ?? 0
print("peak memory  \(kilobytes / 1_024) MB")
