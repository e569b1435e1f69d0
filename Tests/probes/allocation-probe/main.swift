import ALSAAudio
import AVFAudio
import CAllocationCounter
import EchoServer
import Foundation
import SRTP
import SpeechDSP
import UDPTransport
import VoiceEngine

// allocation-probe [TURNS]: a call to itself over UDP with every filter on, long enough that its
// packets become shorter, and beside it an echo server's, each under a cipher of its own, and how
// often the voice threads allocated once they were running. Exit status 1 if they did at all.

/// Number of the voice thread's turns, one each 2.5 ms.
let turns = CommandLine.arguments.dropFirst().first.flatMap { Int64($0) } ?? 3_600

/// An encrypted path whose packets come back to their sender.
func path(_ profile: SRTPProfile) throws -> SecureTransport<MediaSocket> {
  SecureTransport(try .toItself(), under: try SRTPSession(.toItself(profile)))
}

func measure() throws -> (voice: Int, turns: Int64, packets: Int64, packetFrames: Int) {
  let headset = try Headset(capture: .null, playback: .null)
  let filters = SpeechFilterSettings(
    echoCancellation: true,
    noiseSuppression: true,
    gainControl: true
  )
  let engine = try CallEngine(device: headset, settings: EngineSettings(filters: filters))
  defer { engine.stop() }
  let echo = try EchoEngine<SecureTransport<MediaSocket>>(period: 480)
  defer { echo.stop() }
  _ = try echo.streams.attach(.opus(ssrc: 3, seed: 4), over: try path(.aes128CMSHA1Tag80))
  var configuration = StreamConfiguration.opus(ssrc: 1, seed: 2, withCopies: true)
  configuration.adaptsPackets = true
  let stream = try engine.streams.attach(configuration, over: try path(.aeadAES128GCM))
  func goOn(until turn: Int64) { while engine.statistics()?.turns ?? 0 < turn { usleep(20_000) } }
  goOn(until: 400)
  let before = allocation_counter_voice()
  goOn(until: 400 + turns)
  let after = allocation_counter_voice()
  let statistics = engine.streams.statistics(of: stream)
  return (
    Int(after - before), engine.statistics()?.turns ?? 0, statistics?.packetsReceived ?? 0,
    statistics?.packetFrames ?? 0
  )
}

do {
  let result = try measure()
  print(
    "voice thread: \(result.voice) allocations in \(result.turns) turns "
      + "(\(result.packets) packets, "
      + "at last of \(result.packetFrames) frames; "
      + "\(allocation_counter_all()) allocations in the whole program)"
  )
  exit(result.voice == 0 && result.packets > 0 && allocation_counter_all() > 0 ? 0 : 1)
} catch {
  FileHandle.standardError.write(Data("allocation-probe: \(error)\n".utf8))
  exit(1)
}
