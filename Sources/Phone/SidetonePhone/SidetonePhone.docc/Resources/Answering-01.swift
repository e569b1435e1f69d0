import Foundation
import SidetonePhone

/// Prints a line at once, so that the journal has it when it happens.
func note(_ text: String) {
  print(text)
  fflush(nil)
}

var configuration = PhoneConfiguration()
configuration.user = "reception"
configuration.maximumCalls = 1
configuration.devices.capture = .null
configuration.devices.playback = .null

let phone = Phone(configuration)
try await phone.start()
for await event in phone.events {
  switch event {
  case .registered(let addresses):
    note("Listening at \(addresses.joined(separator: ", ")).")
  case .incoming(_, let caller):
    note("Incoming call from \(caller).")
  case .ended(_, let end):
    note("Ended: \(end).")
  case .error(let text):
    note("Problem: \(text).")
  default:
    break
  }
}
