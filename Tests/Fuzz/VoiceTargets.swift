import MediaCore
import RealTime
import RTP
@testable import VoiceStream

/// A call's stream: RTP and RTCP datagrams in any order, at any time, and the sound that is played.
func fuzzVoice(_ bytes: [UInt8]) {
  var source = ByteSource(bytes)
  let choice = source.byte()
  var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2, withCopies: choice & 1 != 0)
  if choice & 2 != 0 {
    configuration.codec = choice & 4 != 0 ? .pcma : .pcmu
    configuration.sendPayloadType = 8
    configuration.receivePayloadType = 8
  }
  configuration.isAuthenticated = choice & 8 != 0
  configuration.followsFarSide = choice & 16 != 0
  configuration.receiveEventPayloadType = 101
  configuration.sendEventPayloadType = 101
  guard var stream = try? VoiceStream(configuration) else { return }
  var datagram = ByteBuffer(repeating: 0, count: VoiceStream.maximumDatagram)
  var sound = SampleBuffer(repeating: 0, count: 480)
  var now = MonotonicInstant(nanoseconds: 1_000_000_000)
  for _ in 0..<64 where !source.isAtEnd {
    let step = source.byte()
    now = now.advanced(byNanoseconds: Int64(step & 63) * 500_000)
    let packet = source.chunk(limit: VoiceStream.maximumDatagram)
    for (place, byte) in packet.enumerated() { datagram[place] = byte }
    let origin: DatagramOrigin = step & 64 != 0 ? .agreed : step & 128 != 0 ? .neighbour : .foreign
    switch stream.judge(datagram, length: packet.count, from: origin, at: now) {
    case .refuse:
      break
    case .accept, .acceptAndAdmit, .acceptAndFollow, .acceptAgreedAlone:
      let arrival = ArrivalTime(instant: now, playback: now, wait: 0)
      stream.receive(datagram, length: packet.count, at: arrival)
    }
    sound.fill(0, count: 480)
    stream.render(addingTo: &sound, count: 480, at: now)
    let isEchoed = stream.mayEcho(480)
    if isEchoed || step & 1 != 0 { stream.push(sound, count: 480, isMuted: false) }
    while stream.nextPacket(into: &datagram) != nil {}
    _ = stream.nextReport(into: &datagram, at: now, wallNanoseconds: 5, isGoodbye: false)
    while stream.takeDigit() != nil {}
    _ = stream.takeStatistics(at: now)
    _ = stream.playout
  }
}
