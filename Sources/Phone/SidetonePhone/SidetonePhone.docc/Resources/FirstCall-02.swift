import Foundation
import SidetonePhone

guard CommandLine.arguments.count == 2 else {
  print("usage: FirstCall sip:NAME@HOST")
  exit(2)
}
let address = CommandLine.arguments[1]

var configuration = PhoneConfiguration()
configuration.user = "alice"
configuration.port = 0
configuration.hosts = [try await Phone.localHost(towards: address)]

let phone = Phone(configuration)
try await phone.start()
try await phone.call(address)
for await event in phone.events {
  switch event {
  case .calling(_, let callee):
    print("Calling \(callee) ...")
  case .ringing:
    print("Ringing ...")
  case .connected(_, let farSide):
    print("Connected with \(farSide).")
  case .ended(_, let end):
    print("Ended: \(end).")
  case .error(let text):
    print("Problem: \(text).")
  default:
    break
  }
  if case .ended = event { break }
}
await phone.stop()
