import CDBus
import Foundation
import MediaCore
@testable import ALSAAudio
@testable import CallKit
@testable import CallStore
@testable import DesktopServices
@testable import PushKit
@testable import SidetonePhone
@testable import Simulation

/// A folder of this process's own; Scripts/fuzz.sh removes it.
private let folder: URL = {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("sidetone-fuzz-\(ProcessInfo.processInfo.processIdentifier)")
  try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}()

func fuzzNumber(_ text: String) {
  _ = CallerNumber.normalized(text)
  _ = CallerNumber.key(text)
}

/// Sound files.
func fuzzWave(_ bytes: [UInt8]) {
  // Other kinds of files are the library's alone.
  guard bytes.starts(with: "RIFF".utf8) else { return }
  _ = try? SoundFile(parsing: bytes)
}

/// Recorded networks: text, captured frames, and whole captures.
func fuzzTraces(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  switch source.byte() % 3 {
  case 0:
    if var trace = try? NetworkTrace(parsing: String(decoding: source.rest(), as: UTF8.self)) {
      _ = trace.fate(sentAt: MonotonicInstant(nanoseconds: 5), byteCount: 100)
    }
  case 1:
    var capture = PacketCapture()
    let linkType = Int(source.byte())
    var time: Int64 = 0
    while !source.isAtEnd {
      time += Int64(source.byte()) * 1_000_000
      capture.add(frame: source.chunk(limit: 2_000), linkType: linkType, at: time)
    }
    for stream in capture.streams() { _ = (stream.summary, try? stream.trace()) }
  default:
    let file = folder.appendingPathComponent("capture")
    try? Data(source.rest()).write(to: file)
    for stream in (try? CaptureFile.read(file.path))?.streams() ?? [] { _ = try? stream.trace() }
  }
}

/// The accounts' file and the passwords' one.
func fuzzAccounts(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  let passwords = folder.appendingPathComponent("passwords.json")
  try? Data(source.chunk(limit: 2_000)).write(to: passwords)
  let file = folder.appendingPathComponent("accounts.json")
  try? Data(source.rest()).write(to: file)
  let store = PasswordStore(in: folder, keyring: nil)
  _ = try? AccountBook(file: file, passwords: store).accounts()
}

/// The store's file, as another program or a failing disk may have left it.
func fuzzStore(_ bytes: [UInt8]) {
  let place = folder.appendingPathComponent("store")
  try? FileManager.default.removeItem(at: place)
  try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
  try? Data(bytes).write(to: place.appendingPathComponent("calls.sqlite"))
  guard let store = try? CallStore(in: place) else { return }
  _ = try? store.recents()
  _ = try? store.favourites()
  _ = try? store.standing(of: "sip:bob@192.0.2.1")
  _ = try? store.knownPeer(at: "sip:bob@192.0.2.1")
  _ = try? store.knownIdentities()
}

/// A line of JSON by which another program starts an app for a call.
func fuzzPush(_ bytes: [UInt8]) {
  let token = Data(repeating: 7, count: 4)
  // What is no push is refused.
  _ = try? PushRequest(String(decoding: bytes, as: UTF8.self), token: token)
}

/// The manifest of an extension of the call directory.
func fuzzManifests(_ bytes: [UInt8]) {
  let place = folder.appendingPathComponent("extensions")
  try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
  try? Data(bytes).write(to: place.appendingPathComponent("one.json"))
  for found in DirectoryExtension.all(dataFolder: folder) {
    _ = URL(fileURLWithPath: found.executable)
  }
}

/// Services that phones announce in the local network.
func fuzzNeighbours(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  var neighbourhood = Neighbourhood()
  while !source.isAtEnd {
    let isLost = source.byte() % 4 == 0
    let key = AnnouncedService.Key(
      interface: Int32(source.byte() % 3),
      networkProtocol: Int32(source.byte() % 2),
      name: String(decoding: source.chunk(limit: 63), as: UTF8.self),
      domain: "local"
    )
    if isLost {
      _ = neighbourhood.handle(.lost(key))
      continue
    }
    let service = AnnouncedService(
      key: key,
      host: String(decoding: source.chunk(limit: 8), as: UTF8.self),
      address: String(decoding: source.chunk(limit: 40), as: UTF8.self),
      port: UInt16(source.byte()),
      texts: AnnouncedService.texts([source.chunk(limit: 255), source.chunk(limit: 255)]),
      isOfThisMachine: false
    )
    _ = neighbourhood.handle(.found(service))
  }
}

/// Lines that an extension of the call directory writes.
func fuzzDirectory(_ bytes: [UInt8]) {
  var check = DirectoryLoadCheck(mayBeIncremental: bytes.count % 2 == 0)
  for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
    let text = Substring(String(decoding: line, as: UTF8.self))
    guard case .entry(let entry)? = DirectoryLine(text) else { continue }
    guard (try? check.accept(entry)) != nil else { return }
  }
}

/// Messages of the bus as a service may send them, also read as Avahi's.
func fuzzBus(_ bytes: [UInt8]) {
  let characters = bytes.map { CChar(bitPattern: $0) }
  let message = unsafe dbus_message_demarshal(characters, CInt(characters.count), nil)
  guard let message = unsafe message else { return }
  let values = unsafe BusMarshal.values(of: message)
  if let key = ServiceBrowser.key(of: values) { _ = ServiceBrowser.service(of: values, key) }
  unsafe dbus_message_unref(message)
}
