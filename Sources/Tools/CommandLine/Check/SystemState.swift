import ALSAAudio
import DesktopServices
import Foundation
import FoundationAdditions
import Glibc
import RealTime
import UDPTransport

/// Properties of the system that calls depend on, as they were found.
struct SystemState: Equatable {
  /// True if a thread got real-time scheduling without a service's help.
  var grantsRealTime = false
  /// True if rtkit is there, the service that gives real-time scheduling to others.
  var hasRealTimeKit = false
  /// Limit of locked memory in bytes; nil without a limit, as for root.
  var lockableBytes: Int?
  /// Names of the sound servers that run.
  var soundServers: [String] = []
  /// True if time servers keep the system's clock right; nil if the system does not say.
  var isClockSynchronized: Bool?
  /// Name of the firewall that is on; nil if none is found.
  var firewall: String?

  /// Examines the system; waits up to two seconds for each reply of the system bus.
  static func find() -> SystemState {
    var state = SystemState()
    state.grantsRealTime = scheduling() == .realTime
    let bus = BusConnection(address: BusConnection.systemAddress)
    state.hasRealTimeKit = bus?.hasService("org.freedesktop.RealtimeKit1") ?? false
    var limit = rlimit()
    if unsafe getrlimit(CInt(__RLIMIT_MEMLOCK.rawValue), &limit) == 0,
      // The limit is for those without the privilege.
      limit.rlim_cur != rlim_t.max, geteuid() != 0
    {
      state.lockableBytes = Int(clamping: limit.rlim_cur)
    }
    state.soundServers = soundServers()
    state.isClockSynchronized = WallClock.isSynchronized
    state.firewall = firewall(bus)
    return state
  }

  private static func scheduling() -> RealTimeThread.Scheduling {
    let isDone = DispatchSemaphore(value: 0)
    // Without a thread there is no real-time one.
    let thread = try? RealTimeThread(name: "check", policy: .realTime) { isDone.wait() }
    guard let thread else { return .ordinary }
    while thread.scheduling == .pending { usleep(1_000) }
    let scheduling = thread.scheduling
    isDone.signal()
    thread.join()
    return scheduling
  }

  private static func soundServers() -> [String] {
    guard let folder = BaseFolder.runtime()?.path else { return [] }
    return [("pipewire-0", "PipeWire"), ("pulse/native", "PulseAudio's protocol")]
      .filter { FileManager.default.fileExists(atPath: "\(folder)/\($0.0)") }.map(\.1)
  }

  private static func firewall(_ bus: BusConnection?) -> String? {
    if bus?.hasService("org.fedoraproject.FirewallD1") == true { return "firewalld" }
    // A file that is not there, or may not be read, tells of none.
    let ufw = (try? String(contentsOfFile: "/etc/ufw/ufw.conf", encoding: .utf8)) ?? ""
    return ufw.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("ENABLED=yes") }
      ? "ufw" : nil
  }
}

/// A port at which calls arrive.
struct PortState: Equatable {
  let name: String
  /// Reason why it cannot be bound; nil if it is free.
  let reason: String?

  /// Returns the ports of SIP, by UDP, TCP and TLS, and whether each is free.
  static func ofSIP() -> [PortState] {
    [
      ("5060/udp", 5_060, SOCK_DGRAM), ("5060/tcp", 5_060, SOCK_STREAM),
      ("5061/tcp", 5_061, SOCK_STREAM),
    ]
    .map { PortState(name: $0, reason: bindingError(port: $1, $2)) }
  }

  private static func bindingError(port: UInt16, _ type: __socket_type) -> String? {
    let descriptor = socket(AF_INET, CInt(type.rawValue), 0)
    guard descriptor >= 0 else { return unsafe String(cString: strerror(errno)) }
    defer { close(descriptor) }
    if type == SOCK_STREAM {
      var yes: CInt = 1
      let size = socklen_t(MemoryLayout<CInt>.size)
      // A port whose connections ended a moment ago is free.
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size)
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    return code == 0 ? nil : unsafe String(cString: strerror(errno))
  }
}
