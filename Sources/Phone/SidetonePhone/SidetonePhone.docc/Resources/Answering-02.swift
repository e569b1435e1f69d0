import Foundation
import SidetonePhone

/// Prints a line at once, so that the journal has it when it happens.
func note(_ text: String) {
  print(text)
  fflush(nil)
}

func answer(_ call: UUID, with phone: Phone) async {
  do {
    try await phone.answer(call)
  } catch {
    note("Cannot answer: \(error).")
  }
}

/// Ends a call a minute after it was connected.
func limit(_ call: UUID, with phone: Phone) async {
  try? await Task.sleep(for: .seconds(60))
  do {
    try await phone.end(call)
  } catch {
    // The caller has hung up before.
  }
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
  case .incoming(let call, let caller):
    note("Incoming call from \(caller).")
    await answer(call, with: phone)
  case .connected(let call, let farSide):
    note("Connected with \(farSide).")
    Task { await limit(call, with: phone) }
  case .ended(_, let end):
    note("Ended: \(end).")
  case .error(let text):
    note("Problem: \(text).")
  default:
    break
  }
}
