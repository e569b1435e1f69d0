import Foundation
import MediaCore
import Testing

@testable import SIPSignalling
@testable import SidetonePhone
@testable import VoiceStream

/// The first media of a call: announcements and queues before the answer, calls that begin on
/// hold, and far sides that only listen.
struct EarlyMediaTests {
  private let uuid = UUID()
  private let sip = SIPCallID(rawValue: 7)

  private func seconds(_ count: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(count * 1e9))
  }

  private func outgoing() -> PhoneCall {
    PhoneCall(outgoing: uuid, to: "sip:bob@10.0.0.2", .unknown)
  }

  private func isOver(_ effects: [PhoneCallEffect]) -> Bool {
    effects.contains { if case .release = $0 { true } else { false } }
  }

  private func statistics(silence: Double, packets: Int64 = 100) -> StreamStatistics {
    var statistics = StreamStatistics()
    statistics.packetsReceived = packets
    statistics.silenceNanoseconds = Int64(silence * 1e9)
    return statistics
  }

  /// Loudspeakers and recorders only listen: RFC 3264 does not oblige them to send.
  @Test func farSideThatOnlyListensIsNotGivenUp() {
    var call = outgoing()
    for event: PhoneCallEvent in [.invited(sip, by: .udp), .agreed(.opus()), .established] {
      _ = call.handle(event, at: seconds(1))
    }
    for second in stride(from: 40, to: 2_000, by: 5) {
      _ = call.handle(.present, at: seconds(Double(second)))
      let figures = statistics(silence: Double(second) - 1, packets: 0)
      #expect(!isOver(call.handle(.mediaReported(figures), at: seconds(Double(second) + 0.5))))
    }
  }

  /// Click-to-dial and queues begin on hold (RFC 3264 section 6.1).
  @Test func callMayBeginOnHold() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    let inactive = NegotiatedMedia.opus(maySend: false, mayReceive: false)
    // Early media that only sends is an announcement.
    #expect(call.handle(.agreed(inactive), at: seconds(1)) == [.agree(inactive)])
    #expect(call.handle(.established, at: seconds(2)).contains(.tell(.heldByFarSide(uuid))))
    #expect(call.handle(.agreed(.opus()), at: seconds(3)).contains(.tell(.resumedByFarSide(uuid))))
  }

  /// A queue may speak in early media for any time; one that falls silent has gone.
  @Test func earlyMediaThatIsHeardIsNotGivenUp() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    _ = call.handle(.progressed, at: seconds(1))
    _ = call.handle(.agreed(.opus()), at: seconds(1))
    for second in 2..<400 {
      let heard = PhoneCallEvent.mediaReported(statistics(silence: 0.02))
      #expect(call.handle(heard, at: seconds(Double(second))).isEmpty)
      #expect(!isOver(call.handle(.timePassed, at: seconds(Double(second)))))
    }
    let silent = PhoneCallEvent.mediaReported(statistics(silence: 60))
    _ = call.handle(silent, at: seconds(460))
    #expect(isOver(call.handle(.timePassed, at: seconds(600))))
  }

  /// Menus ask for keys in early media; without media there is nowhere to send them.
  @Test func digitsBeforeTheAnswerNeedEarlyMedia() {
    var call = outgoing()
    _ = call.handle(.invited(sip, by: .udp), at: seconds(0))
    #expect(call.handle(.perform(.playDTMF([1])), at: seconds(1)).last == .fail)
    _ = call.handle(.agreed(.opus()), at: seconds(1))
    #expect(
      call.handle(.perform(.playDTMF([1])), at: seconds(2)) == [.sendDigits([1]), .fulfill]
    )
  }
}
