import CLinux
import Glibc
public import MediaCore
public import RealTime

/// The UDP socket of one RTP stream: RTP and RTCP of both directions (RFC 4961, RFC 5761).
///
/// It takes arrival times from the kernel, sends with DSCP EF and reports ICMP errors. Each
/// datagram received is marked with its origin (`DatagramOrigin`). To an address that has not
/// answered yet only a few datagrams are sent (`UnansweredLimit`).
///
/// **Life cycle:** bound by the initialiser (so that its port can be offered), given a destination
/// by `connect`, closed by `deinit`. **Thread safety:** one thread at a time; the session makes and
/// connects it, then the voice thread owns it.
public struct MediaSocket: PacketTransport, ~Copyable {
  let descriptor: CInt
  /// The port that it is bound to.
  public let localPort: UInt16
  /// Socket to which received connectivity checks are passed on; negative without a `CheckPort`.
  var checks: CInt = -1
  /// Socket at the next port, for RTCP that is not multiplexed; negative without it.
  private var reports: CInt = -1

  private var remote = AddressStorage(raw: sockaddr_storage())
  private var remoteControl = AddressStorage(raw: sockaddr_storage())
  private var admitted = AddressStorage(raw: sockaddr_storage())
  private var hasAdmitted = false
  /// True if voice goes to the admitted port of the agreed host as well.
  private var sendsToBoth = false
  private var lastSource = AddressStorage(raw: sockaddr_storage())
  private var failedDestination = AddressStorage(raw: sockaddr_storage())
  private let noAddress = AddressStorage(raw: sockaddr_storage())
  private var isConnected = false
  private var isAnswering = false
  private let answering: AnsweringAddress
  let lentAnswering: AnsweringAddress.Lent
  private var remoteMark: UInt64 = 0
  private var remoteHost: UInt64 = 0
  private var lastLook = MonotonicInstant(nanoseconds: 0)
  private var lastEmpty = MonotonicInstant(nanoseconds: 0)
  private var hasErrors = false

  /// Expedited forwarding (RFC 3246), in the upper six bits of the traffic class.
  private static let expeditedForwarding: CInt = 46 << 2
  /// Size of the receive buffer: 400 ms of 2.5 ms packets and more survive a stalled voice thread.
  private static let receiveBufferBytes: CInt = 1 << 20

  /// Most sockets that are tried for an even port.
  private static let mostTries = 8

  /// Binds a socket to `address`; port 0 lets the system choose one.
  ///
  /// A few sockets are tried for an even port, since some far sides replace an odd one by the next
  /// lower (RFC 3550 section 11).
  public init(bindingTo address: SocketAddress) throws(SystemError) {
    var (descriptor, port) = try Self.open(bindingTo: address)
    var odd: [CInt] = []
    while address.port == 0, port % 2 == 1, odd.count < Self.mostTries {
      // Those are held meanwhile, so that each try is another port.
      guard let next = try? Self.open(bindingTo: address) else { break }
      odd.append(descriptor)
      (descriptor, port) = next
    }
    for descriptor in odd { close(descriptor) }
    self.descriptor = descriptor
    localPort = port
    answering = AnsweringAddress()
    lentAnswering = AnsweringAddress.Lent(answering)
    Self.configure(descriptor, family: CInt(address.storage.raw.ss_family))
  }

  private static func open(
    bindingTo address: SocketAddress
  ) throws(SystemError) -> (descriptor: CInt, port: UInt16) {
    let family = CInt(address.storage.raw.ss_family)
    let kind =
      CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw SystemError(operation: "socket", code: errno) }
    do throws(SystemError) {
      return (descriptor, try Self.bind(descriptor, to: address))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private init(descriptor: CInt, localPort: UInt16, answering: AnsweringAddress) {
    self.descriptor = descriptor
    self.localPort = localPort
    self.answering = answering
    lentAnswering = AnsweringAddress.Lent(answering)
  }

  /// A socket on the loopback interface that receives what it sends, for a call to oneself.
  package static func toItself() throws(SystemError) -> MediaSocket {
    guard let any = SocketAddress(host: "127.0.0.1", port: 0) else {
      throw SystemError(operation: "inet_pton", code: EINVAL)
    }
    var socket = try MediaSocket(bindingTo: any)
    guard let own = SocketAddress(host: "127.0.0.1", port: socket.localPort) else {
      throw SystemError(operation: "inet_pton", code: EINVAL)
    }
    socket.connect(to: own, control: own, isAnswering: true)
    return socket
  }

  /// Another owner of the same socket, with a destination of its own.
  ///
  /// After a re-INVITE that moves the media, a new stream uses the same port through it.
  public func duplicate() throws(SystemError) -> MediaSocket {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(operation: "dup", code: errno) }
    var other = MediaSocket(descriptor: copy, localPort: localPort, answering: answering)
    if checks >= 0 {
      other.checks = fcntl(checks, F_DUPFD_CLOEXEC, 0)
      guard other.checks >= 0 else { throw SystemError(operation: "dup", code: errno) }
    }
    // Without it there is no round trip, which is no reason not to hold the call.
    if reports >= 0 { other.reports = fcntl(reports, F_DUPFD_CLOEXEC, 0) }
    return other
  }

  deinit {
    close(descriptor)
    if checks >= 0 { close(checks) }
    if reports >= 0 { close(reports) }
  }

  /// Sends to `address` from now on, and RTCP to `control` (the same address with rtcp-mux).
  ///
  /// - Parameters:
  ///   - address: the far side's address, a unicast one.
  ///   - control: the far side's address for RTCP.
  ///   - isAnswering: true if the address is known to be the far side's, as after connectivity
  ///     checks. To others little is sent before RTP or RTCP comes from there.
  public mutating func connect(
    to address: SocketAddress,
    control: SocketAddress,
    isAnswering: Bool = false
  ) {
    remote = address.storage
    remoteControl = control.storage
    remoteMark = AnsweringAddress.mark(of: remote)
    remoteHost = AnsweringAddress.hostMark(of: remote)
    self.isAnswering = isAnswering
    sendsToBoth = false
    isConnected = true
    setReportsErrors(true)
  }

  /// Receives at the next port as well, if it is free: a far side that does not multiplex RTCP
  /// sends it there (RFC 3550 section 11), whatever `a=rtcp` says.
  ///
  /// Later duplicates do the same.
  package mutating func openReports() {
    guard reports < 0 else { return }
    var bound = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = unsafe withUnsafeMutablePointer(to: &bound) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe getsockname(descriptor, name, &length)
      }
    }
    guard code == 0, localPort < .max, let host = AddressStorage(raw: bound).host,
      let own = SocketAddress(host: host, port: localPort + 1)
    else { return }
    let kind =
      CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
    let family = CInt(bound.ss_family)
    let opened = socket(family, kind, 0)
    guard opened >= 0 else { return }
    // In use: the port is another program's.
    guard (try? Self.bind(opened, to: own)) != nil else {
      close(opened)
      return
    }
    Self.configure(opened, family: family)
    reports = opened
  }

  /// Notes for all owners of the socket that an address has answered in another way than by RTP.
  package func noteAnswer(from address: SocketAddress) {
    lentAnswering.note(AnsweringAddress.mark(of: address.storage))
  }

  /// Notes for all owners of the socket that the far side's signalling comes from a host and has
  /// answered requests sent there: voice may go to this host as well.
  ///
  /// If the agreed address stays silent and voice comes from this host, this side sends to that
  /// source: the far side has several addresses, or is behind a router.
  package func noteAnswer(fromHost host: String) {
    guard let address = SocketAddress(host: host, port: 0) else { return }
    lentAnswering.noteHost(AnsweringAddress.hostMark(of: address.storage))
  }

  // True if one more datagram may be sent.
  @_noAllocation @_noLocks
  private mutating func maySend() -> Bool {
    guard !isAnswering else { return true }
    if lentAnswering.isKnown(remoteMark) || lentAnswering.isKnownHost(remoteHost) {
      isAnswering = true
    } else if hasAdmitted,
      lentAnswering.isKnownHost(lentAnswering.hostMark(of: &admitted.raw))
    {
      remote = admitted
      remoteControl = admitted
      isAnswering = true
    }
    return isAnswering || lentAnswering.mayTry(remoteMark, at: lastLook)
  }

  /// Turns the reporting of ICMP errors to the receiver on or off.
  ///
  /// Turn it off while a thread only waits for datagrams: a pending error would wake it repeatedly.
  package func setReportsErrors(_ isReporting: Bool) {
    var value: CInt = isReporting ? 1 : 0
    let size = socklen_t(MemoryLayout<CInt>.size)
    // Of the two one is of another family, and fails.
    _ = unsafe setsockopt(descriptor, CInt(IPPROTO_IP), IP_RECVERR, &value, size)
    _ = unsafe setsockopt(descriptor, CInt(IPPROTO_IPV6), IPV6_RECVERR, &value, size)
  }

  /// Discards datagrams that have arrived and were not read.
  package mutating func discardPending() {
    var buffer = ByteBuffer(repeating: 0, count: 2_048)
    let now = MonotonicClock.now()
    for _ in 0..<100_000 {
      if case .empty = receive(into: &buffer, at: now) { return }
    }
  }

  /// Receives one datagram without waiting; a connectivity check is passed on to the `CheckPort`,
  /// and counts as `failed`.
  ///
  /// `now` is the time of the call, or a little before: a datagram that is not there yet is assumed
  /// to arrive later than that.
  @_noAllocation @_noLocks
  public mutating func receive(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    lastLook = now
    var arrival = realtime_arrival()
    let length = unsafe realtime_receive(descriptor, buffer.address, buffer.count, &arrival)
    guard length >= 0 else {
      let isTelling = Self.isTelling(CInt(truncatingIfNeeded: -length))
      hasErrors = hasErrors || isTelling
      if takeRefusal() { return .refused }
      guard !isTelling else { return .failed }
      return receiveReport(into: &buffer, at: now)
    }
    if checks >= 0, length > 0, Self.isCheck(firstByte: buffer[0]) {
      unsafe realtime_hand_over(checks, &arrival.source, buffer.address, length)
      return .failed
    }
    return note(arrival, length: length, of: buffer)
  }

  @_noAllocation @_noLocks
  private mutating func receiveReport(
    into buffer: inout ByteBuffer,
    at now: MonotonicInstant
  ) -> TransportOutcome {
    guard reports >= 0 else {
      lastEmpty = now
      return .empty
    }
    var arrival = realtime_arrival()
    let length = unsafe realtime_receive(reports, buffer.address, buffer.count, &arrival)
    guard length >= 0 else {
      lastEmpty = now
      return .empty
    }
    return note(arrival, length: length, of: buffer)
  }

  @_noAllocation @_noLocks
  private mutating func note(
    _ arrival: realtime_arrival,
    length: Int,
    of buffer: borrowing ByteBuffer
  ) -> TransportOutcome {
    lastSource.raw = arrival.source
    // What was not there at the last look came later, whatever a stepped wall clock says.
    let instant = max(
      MonotonicClock.instant(ofWallNanoseconds: arrival.wall_nanoseconds),
      lastEmpty
    )
    let origin = lastOrigin
    if !isAnswering, case .agreed = origin, Self.isMedia(buffer, length: length) {
      isAnswering = true
      lentAnswering.note(remoteMark)
    }
    return .received(Arrival(length: length, instant: instant, origin: origin))
  }

  // True for what looks like RTP or RTCP; the shortest report has eight bytes.
  @_noAllocation @_noLocks
  private static func isMedia(_ datagram: borrowing ByteBuffer, length: Int) -> Bool {
    length >= 8 && datagram[0] >> 6 == 2
  }

  // Of the last datagram.
  private var lastOrigin: DatagramOrigin {
    @_noAllocation @_noLocks mutating get {
      guard isConnected else { return .foreign }
      // The source that was admitted stays it, also once it is sent to.
      if unsafe realtime_same_address(&lastSource.raw, &admitted.raw, 1) != 0 { return .admitted }
      if unsafe realtime_same_address(&lastSource.raw, &remote.raw, 1) != 0
        || realtime_same_address(&lastSource.raw, &remoteControl.raw, 1) != 0
      {
        return .agreed
      }
      let isNeighbour = unsafe realtime_same_address(&lastSource.raw, &remote.raw, 0) != 0
      return isNeighbour ? .neighbour : .foreign
    }
  }

  /// Sends the first `length` bytes of `datagram` without waiting; a full socket buffer drops it.
  @_noAllocation @_noLocks
  public mutating func send(
    _ datagram: borrowing ByteBuffer,
    length: Int,
    isControl: Bool
  ) {
    guard isConnected, length <= datagram.count, maySend() else { return }
    let hadError =
      isControl
      ? Self.send(datagram, length, by: descriptor, to: &remoteControl)
      : Self.send(datagram, length, by: descriptor, to: &remote)
    if hadError { hasErrors = true }
    guard sendsToBoth, !isControl else { return }
    if Self.send(datagram, length, by: descriptor, to: &admitted) { hasErrors = true }
  }

  // A pending error of another datagram is reported instead of sending: it is sent again then. True
  // if there was one.
  @_noAllocation @_noLocks
  private static func send(
    _ datagram: borrowing ByteBuffer,
    _ length: Int,
    by descriptor: CInt,
    to address: inout AddressStorage
  ) -> Bool {
    var hadError = false
    for _ in 0..<2 {
      let sent = unsafe realtime_send(descriptor, datagram.address, length, &address.raw)
      guard sent < 0, isTelling(CInt(truncatingIfNeeded: -sent)) else { break }
      hadError = true
    }
    return hadError
  }

  /// Also accepts media from the source of the last datagram, which must have carried voice.
  ///
  /// If it is another port of the agreed host, the agreed address counts as answering, and voice is
  /// sent to both ports: behind some routers only the one that was sent from is open (RFC 4961),
  /// while gateways may listen at the agreed one alone.
  @_noAllocation @_noLocks
  public mutating func admitLastSource() {
    admitted = lastSource
    hasAdmitted = true
    sendsToBoth = unsafe realtime_same_address(&admitted.raw, &remote.raw, 0) != 0
    // One that goes elsewhere by now is known already.
    guard !isAnswering else { return }
    if sendsToBoth {
      isAnswering = true
      lentAnswering.note(remoteMark)
    }
  }

  /// Makes the source of the last datagram the agreed host and port, and sends there from now on.
  @_noAllocation @_noLocks
  public mutating func followLastSource() {
    remote = lastSource
    remoteControl = lastSource
    sendsToBoth = false
    // It was authentic, and came from there.
    isAnswering = true
  }

  /// Accepts media from the agreed host and port only.
  @_noAllocation @_noLocks
  public mutating func forgetAdmitted() {
    admitted = noAddress
    hasAdmitted = false
    sendsToBoth = false
  }

  // Empties the error queue, which takes the room of datagrams; true if the far side's host says
  // that the port of the far side is closed. A network that is away for a while is no refusal,
  // nor is a port for reports that is closed.
  @_noAllocation @_noLocks
  private mutating func takeRefusal() -> Bool {
    guard hasErrors else { return false }
    var isRefused = false
    for _ in 0..<16 {
      let code = unsafe realtime_take_error(descriptor, &failedDestination.raw)
      guard code != 0 else {
        hasErrors = false
        break
      }
      let isOfVoice =
        unsafe realtime_same_address(&failedDestination.raw, &remote.raw, 1) != 0
      if code == ECONNREFUSED, isOfVoice { isRefused = true }
    }
    // Where the agreed port is closed, the other one is meant.
    guard isRefused, sendsToBoth else { return isRefused }
    remote = admitted
    remoteControl = admitted
    sendsToBoth = false
    return false
  }

  // True if an error may be about a datagram that was sent before.
  @_noAllocation @_noLocks
  private static func isTelling(_ code: CInt) -> Bool {
    code != EAGAIN && code != EINTR && code != ENOBUFS
  }

  private static func bind(
    _ descriptor: CInt,
    to address: SocketAddress
  ) throws(SystemError) -> UInt16 {
    var storage = address.storage.raw
    var length = address.storage.length
    let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe Glibc.bind(descriptor, name, length) == 0
          ? unsafe getsockname(descriptor, name, &length) : -1
      }
    }
    guard code == 0 else { throw SystemError(operation: "bind \(address)", code: errno) }
    return AddressStorage(raw: storage).port
  }

  // Each of these improves the call; none is a reason not to hold it.
  private static func configure(_ descriptor: CInt, family: CInt) {
    set(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, 1)
    set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBufferBytes)
    if family == AF_INET6 {
      set(descriptor, CInt(IPPROTO_IPV6), IPV6_TCLASS, expeditedForwarding)
    } else {
      set(descriptor, CInt(IPPROTO_IP), IP_TOS, expeditedForwarding)
    }
    // The voice class of Linux Wi-Fi; needs no privilege up to 6.
    set(descriptor, SOL_SOCKET, SO_PRIORITY, 6)
  }

  private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt, _ value: CInt) {
    var value = value
    let size = socklen_t(MemoryLayout<CInt>.size)
    _ = unsafe setsockopt(descriptor, level, option, &value, size)
  }
}

extension MediaSocket {
  /// The local address that packets to `remote` are sent from; nil if there is no route.
  package static func localAddress(towards remote: SocketAddress) -> String? {
    let family = CInt(remote.storage.raw.ss_family)
    let probe = socket(family, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard probe >= 0 else { return nil }
    defer { close(probe) }
    var storage = remote.storage.raw
    var length = remote.storage.length
    // Connecting a UDP socket sends nothing; it only asks the routing table.
    let code = unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe Glibc.connect(probe, name, length) == 0
          ? unsafe getsockname(probe, name, &length) : -1
      }
    }
    guard code == 0 else { return nil }
    return unsafe withUnsafeMutablePointer(to: &storage) { storage in
      unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        unsafe HostName.numeric(name, length)
      }
    }
  }
}
