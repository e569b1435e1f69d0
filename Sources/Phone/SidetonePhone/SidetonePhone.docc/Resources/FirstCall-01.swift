import SidetonePhone

var configuration = PhoneConfiguration()
configuration.user = "alice"
configuration.port = 0

let phone = Phone(configuration)
try await phone.start()
for await event in phone.events {
  if case .registered(let addresses) = event {
    print("Alice is at \(addresses.joined(separator: ", ")).")
    break
  }
}
await phone.stop()
