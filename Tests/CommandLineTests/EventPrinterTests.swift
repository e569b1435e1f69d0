import CallSecurity
import Foundation
import SRTP
import Testing
import VoiceEngine

@testable import CommandLine
@testable import SidetonePhone
@testable import VoiceEngine
@testable import VoiceStream

extension CallStatistics {
  /// Figures of a call, which `change` may alter.
  static func example(
    of call: UUID,
    seconds: Double = 65,
    isMuted: Bool = false,
    _ change: (inout StreamStatistics, inout EngineStatistics) -> Void = { _, _ in }
  ) -> CallStatistics {
    var stream = StreamStatistics()
    var engine = EngineStatistics()
    change(&stream, &engine)
    return CallStatistics(
      call: call,
      seconds: seconds,
      isMuted: isMuted,
      protection: .open,
      stream: stream,
      engine: engine,
      isRealTime: true
    )
  }
}

struct EventPrinterTests {
  private let call = UUID()
  private let other = UUID()

  private var events: [(event: PhoneEvent, name: String)] {
    [
      (.registered(addresses: ["10.0.0.1:5060"]), "registered"),
      (.incoming(call, from: "sip:a@h"), "incoming"), (.calling(call, to: "sip:a@h"), "calling"),
      (.ringing(call), "ringing"), (.connected(call, to: "sip:a@h"), "connected"),
      (.held(call), "held"), (.resumed(call), "resumed"),
      (.heldByFarSide(call), "heldByFarSide"), (.resumedByFarSide(call), "resumedByFarSide"),
      (.joined(call, with: other), "joined"), (.separated(call), "separated"),
      (.renamed(call, to: "Carol <sip:c@h>"), "renamed"), (.pressed(call, key: "5"), "key"),
      (.ended(call, .busy(code: 486)), "ended"),
      (.audioActivated, "audioActivated"), (.audioDeactivated, "audioDeactivated"),
      (.routeChanged(reason: "override", microphone: "hw:0", loudspeaker: nil), "routeChanged"),
      (.mediaServicesLost, "mediaServicesLost"), (.mediaServicesReset, "mediaServicesReset"),
      (.error("no route"), "error"),
    ]
  }

  private func object(_ fields: [String: JSONValue]) throws -> [String: Any] {
    let line = try #require(JSONValue.object(fields).line)
    #expect(!line.contains("\n"), "one line for each event")
    return try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    )
  }

  // MARK: JSON, which is a contract

  @Test func everyEventHasItsNameAndItsCall() throws {
    for (event, name) in events {
      let object = try object(EventPrinter.fields(of: event))
      #expect(object["event"] as? String == name)
      let isOfACall =
        !["registered", "error", "routeChanged"].contains(name)
        && !name.hasPrefix("audio") && !name.hasPrefix("media")
      #expect((object["call"] as? String == "\(call)") == isOfACall, "\(name)")
    }
  }

  @Test func eventsHaveTheFieldsOfTheManual() throws {
    func fields(_ event: PhoneEvent) throws -> [String: Any] {
      try object(EventPrinter.fields(of: event))
    }
    #expect(try fields(events[0].event)["addresses"] as? [String] == ["10.0.0.1:5060"])
    #expect(try fields(.incoming(call, from: "x"))["from"] as? String == "x")
    #expect(try fields(.calling(call, to: "x"))["to"] as? String == "x")
    #expect(try fields(.connected(call, to: "x"))["with"] as? String == "x")
    #expect(try fields(.joined(call, with: other))["with"] as? String == "\(other)")
    #expect(try fields(.pressed(call, key: "#"))["key"] as? String == "#")
    let ended = try fields(.ended(call, .busy(code: 486)))
    #expect(ended["reason"] as? String == "busy" && ended["clean"] as? Bool == false)
    #expect(ended["cause"] as? String == "busy" && ended["code"] as? Int == 486)
    let route = try fields(.routeChanged(reason: "r", microphone: "m", loudspeaker: nil))
    #expect(route["microphone"] as? String == "m" && route["loudspeaker"] is NSNull)
    #expect(try fields(.error("why"))["message"] as? String == "why")
  }

  @Test func figuresAreMillisecondsPercentAndDecibels() throws {
    let statistics = CallStatistics.example(of: call, seconds: 12.345, isMuted: true) {
      stream,
      engine in
      stream.packetFrames = 480
      stream.packetsReceived = 900
      stream.packetsLost = 100
      stream.jitterNanoseconds = 1_234_567
      stream.roundTripNanoseconds = -1
      stream.farFractionLost = 128
      stream.decodedFrames = 480 * 899
      stream.concealedFrames = 480
      stream.outputPeak = 0.5
      engine.inputPeak = 0
      engine.underruns = 3
    }
    let object = try object(EventPrinter.fields(of: statistics))
    func number(_ name: String) -> Double? { object[name] as? Double }
    #expect(object["event"] as? String == "stats" && object["call"] as? String == "\(call)")
    #expect(number("seconds") == 12.35 || number("seconds") == 12.34)
    #expect(object["muted"] as? Bool == true && object["realTime"] as? Bool == true)
    #expect(number("packetMs") == 10 && number("concealedMs") == 10)
    #expect(number("jitterMs") == 1.23)
    #expect(object["roundTripMs"] is NSNull, "not known is not zero")
    #expect(number("farLossPercent") == 50, "RTCP counts in 256ths")
    #expect(number("concealedPercent") == 0.11, "one of 900 frames")
    #expect(number("outputPeakDB") == -6 && number("inputPeakDB") == -100)
    #expect(number("underruns") == 3)
  }

  // MARK: For people

  /// An attacker may leave the words out, so their absence is said wherever they would tell.
  @Test(arguments: [
    (PeerStanding.new, true), (.temporary, true), (.known, false), (.verified, false),
  ])
  func absenceOfWordsIsSaid(standing: PeerStanding, isSaid: Bool) throws {
    let fingerprint = Fingerprint(bytes: [UInt8](repeating: 1, count: 32))
    let encryption = Encryption(profile: .aeadAES128GCM, fingerprint: fingerprint, words: nil)
    let event = PhoneEvent.secured(call, .encrypted(encryption, standing: standing))
    let text = EventPrinter.text(of: event, namesKeys: true, announcesAddresses: true)
    #expect(try #require(text).contains("somebody may sit between you") == isSaid)
  }

  @Test func textNamesKeysOnlyWhereTheyCanBePressed() throws {
    for (event, name) in events {
      let silent = EventPrinter.text(of: event, namesKeys: false, announcesAddresses: true)
      let helpful = EventPrinter.text(of: event, namesKeys: true, announcesAddresses: true)
      if name.hasPrefix("audio") {
        #expect(silent == nil && helpful == nil)
        continue
      }
      let text = try #require(silent)
      #expect(!text.contains(" to hang up") && !text.contains(" to answer"))
      #expect(try #require(helpful).hasPrefix(text))
      #expect(text.first?.isUppercase == true || text.hasPrefix("sidetone: "))
    }
    let address = EventPrinter.text(
      of: events[0].event,
      namesKeys: false,
      announcesAddresses: true
    )
    #expect(address == "Listening at sip:10.0.0.1:5060")
    let nowhere = EventPrinter.text(
      of: .registered(addresses: []),
      namesKeys: false,
      announcesAddresses: true
    )
    #expect(nowhere == "There is no network. Calls can arrive once there is one.")
    #expect(
      EventPrinter.text(of: events[0].event, namesKeys: false, announcesAddresses: false) == nil,
      "a caller listens, but that is not what the user wants to know"
    )
  }

  @Test func liveLineHasAMeterAnUnknownRoundTripAndNoDivisionByZero() {
    let nothing = EventPrinter.line(
      .example(of: call, seconds: 0) { stream, _ in stream.roundTripNanoseconds = -1 }
    )
    #expect(nothing.contains("live NOT ENCRYPTED 0:00") && nothing.contains("rtt - ms"))
    #expect(nothing.contains("mic [........]") && nothing.contains("loss 0.0 %"))
    let loud = EventPrinter.line(
      .example(of: call, seconds: 3_725, isMuted: true) { stream, engine in
        engine.inputPeak = 1
        stream.outputPeak = 0.06
        stream.packetsReceived = 99
        stream.packetsLost = 1
        stream.roundTripNanoseconds = 12_340_000
      }
    )
    #expect(loud.contains("muted NOT ENCRYPTED 1:02:05") && loud.contains("mic [########]"))
    #expect(loud.contains("ear [###.....]"), "-24 dB is three steps of six above -48: \(loud)")
    #expect(loud.contains("loss 1.0 %") && loud.contains("rtt 12.3 ms"))
  }
}
