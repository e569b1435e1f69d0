import CLibFuzzer
import Glibc

/// Fuzz targets by name: readers of this package, which get the bytes that libFuzzer invents.
///
/// libFuzzer runs the one that `FUZZ_TARGET` names; `make fuzz` runs all of them. A target must
/// neither trap nor go on for ever, whatever the bytes are.
@main
enum FuzzTargets {
  private static let all: [String: @Sendable ([UInt8]) -> Void] = [
    "accounts": fuzzAccounts,
    "bus": fuzzBus,
    "descriptions": fuzzDescriptions,
    "directory": fuzzDirectory,
    "handshake": fuzzHandshake,
    "identity": fuzzIdentity,
    "links": fuzzLinks,
    "manifests": fuzzManifests,
    "messages": fuzzMessages,
    "names": fuzzNames,
    "neighbours": fuzzNeighbours,
    "paths": fuzzPaths,
    "phone": fuzzPhone,
    "phone-stream": fuzzPhoneStream,
    "push": fuzzPush,
    "relay": fuzzRelay,
    "relay-stream": fuzzRelayStream,
    "settings": fuzzSettings,
    "srtp": fuzzSRTP,
    "store": fuzzStore,
    "traces": fuzzTraces,
    "typed": fuzzTyped,
    "voice": fuzzVoice,
    "wave": fuzzWave,
  ]

  /// Target named by `FUZZ_TARGET`.
  static let chosen: @Sendable ([UInt8]) -> Void = {
    let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    if let target = all[name] { return target }
    print("FUZZ_TARGET is one of: \(all.keys.sorted().joined(separator: " "))")
    exit(2)
  }()

  static func main() {
    var count = CommandLine.argc
    var arguments = unsafe Optional(CommandLine.unsafeArgv)
    let code = unsafe LLVMFuzzerRunDriver(&count, &arguments) { bytes, length in
      unsafe FuzzTargets.chosen(Array(UnsafeBufferPointer(start: bytes, count: length)))
      return 0
    }
    exit(code)
  }
}

/// Bytes that are taken one after the other, for decisions of a target's own; zeros after the end.
struct ByteSource {
  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { place >= bytes.count }

  mutating func byte() -> UInt8 {
    defer { place += 1 }
    return place < bytes.count ? bytes[place] : 0
  }

  /// Takes as many bytes as the next two bytes say, little-endian, but no more than `limit`.
  mutating func chunk(limit: Int) -> [UInt8] {
    let length = min(limit, Int(byte()) | Int(byte()) << 8)
    let end = min(bytes.count, place + length)
    guard place < end else { return [] }
    defer { place = end }
    return Array(bytes[place..<end])
  }

  /// Takes all remaining bytes.
  mutating func rest() -> [UInt8] {
    defer { place = bytes.count }
    return place < bytes.count ? Array(bytes[place...]) : []
  }
}
