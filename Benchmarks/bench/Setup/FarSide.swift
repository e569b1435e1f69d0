import ProgramRig
import Foundation
import MediaCore
import RealTime
import Rig
import Synchronization
import UDPTransport
import VoiceEngine

/// The other end of a call, without a sound card: it sends a tone while asked to, and notes when
/// the kernel received the first packet of the near side.
final class FarSide: Sendable {
  private let port = Atomic<Int>(0)
  private let nearPort = Atomic<Int>(0)
  private let firstArrival = Atomic<Int64>(0)
  private let isStopping = Atomic(false)
  private let thread = Mutex<RealTimeThread?>(nil)

  init() throws {
    let started = DispatchSemaphore(value: 0)
    let thread = try RealTimeThread(name: "far", policy: .realTime) { [self] in
      if let any = SocketAddress(host: "127.0.0.1", port: 0),
        var socket = try? MediaSocket(bindingTo: any),
        var voice = try? VoiceStream(Self.configuration(ssrc: 7))
      {
        port.store(Int(socket.localPort), ordering: .releasing)
        started.signal()
        serve(&socket, &voice)
      } else {
        started.signal()
      }
    }
    self.thread.withLock { $0 = thread }
    started.wait()
    guard address != nil else { throw RigError("no loopback socket for the far side") }
  }

  /// Loopback address at which it receives; nil without a socket.
  var address: SocketAddress? {
    let port = port.load(ordering: .acquiring)
    return port == 0 ? nil : SocketAddress(host: "127.0.0.1", port: UInt16(port))
  }

  static func configuration(ssrc: UInt32) -> StreamConfiguration {
    StreamConfiguration.opus(ssrc: ssrc, seed: UInt64(ssrc))
  }

  /// Sends the tone to `port` from now on, and notes the first arrival anew.
  func talk(to port: UInt16) {
    firstArrival.store(0, ordering: .releasing)
    nearPort.store(Int(port), ordering: .releasing)
  }

  /// Stops sending, and returns the instant at which the first packet had arrived; nil if none had.
  func hush() -> MonotonicInstant? {
    nearPort.store(0, ordering: .releasing)
    let first = firstArrival.load(ordering: .acquiring)
    return first == 0 ? nil : MonotonicInstant(nanoseconds: first)
  }

  func stop() {
    isStopping.store(true, ordering: .releasing)
    thread.withLock { $0.take() }?.join()
  }

  private func serve(_ socket: inout MediaSocket, _ voice: inout VoiceStream) {
    let tone = SampleBuffer((0..<480).map { Float(0.3 * sin(Double($0) / 480 * 2 * .pi * 10)) })
    var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
    var talkingTo = 0
    var ticks = 0
    while !isStopping.load(ordering: .acquiring) {
      usleep(1_000)
      let now = nearPort.load(ordering: .acquiring)
      if now != talkingTo {
        talkingTo = now
        if let near = SocketAddress(host: "127.0.0.1", port: UInt16(now)), now != 0 {
          socket.connect(to: near, control: near, isAnswering: true)
          // What is left of the last call is not this one's.
          socket.discardPending()
        }
      }
      guard talkingTo != 0 else { continue }
      let look = MonotonicClock.now()
      while case .received(let arrival) = socket.receive(into: &datagram, at: look) {
        guard firstArrival.load(ordering: .relaxed) == 0 else { continue }
        firstArrival.store(arrival.instant.nanoseconds, ordering: .releasing)
      }
      ticks += 1
      guard ticks % 9 == 0 else { continue }
      voice.push(tone, count: 480, isMuted: false)
      while let length = voice.nextPacket(into: &datagram) {
        socket.send(datagram, length: length, isControl: false)
      }
    }
  }
}
