import CallSecurity
import Foundation
import SRTP
import Testing

@testable import CommandLine
@testable import SidetonePhone
@testable import VoiceEngine
@testable import VoiceStream

struct ScreenStateTests {
  private let alice = UUID()
  private let bob = UUID()

  /// The screen and the session that it shows, fed with the same events.
  private struct Scene {
    var screen: ScreenState
    var session = CallSessionState(.init())

    init(isUnicode: Bool = true) { screen = ScreenState(isUnicode: isUnicode) }

    mutating func happen(_ event: PhoneEvent, at second: Double) {
      let text = EventPrinter.text(of: event, namesKeys: false, announcesAddresses: true)
      screen.note(event, saying: text, at: second)
      _ = session.handle(.phone(event))
      screen.note(session)
    }

    mutating func press(_ keys: String) {
      for key in keys {
        for effect in session.handle(.key(key)) {
          if case .showTarget(let text) = effect { screen.note(typed: text) }
        }
      }
      screen.note(session)
    }

    func text(_ columns: Int, _ rows: Int) -> String {
      screen.picture(columns: columns, rows: rows).text
    }
  }

  private func encrypted(_ standing: PeerStanding) -> CallProtection {
    let fingerprint = Fingerprint(bytes: [UInt8](repeating: 1, count: 32))
    let words = ["bronze", "blanket", "statue", "banjo"]
    return .encrypted(
      Encryption(profile: .aeadAES128GCM, fingerprint: fingerprint, words: words),
      standing: standing
    )
  }

  private func talking(isUnicode: Bool = true) -> Scene {
    var scene = Scene(isUnicode: isUnicode)
    scene.happen(.calling(alice, to: "sip:alice@10.0.0.2"), at: 0)
    scene.happen(.secured(alice, encrypted(.new)), at: 1)
    scene.happen(.connected(alice, to: "sip:alice@10.0.0.2"), at: 1)
    for second in 1...5 {
      let figures = CallStatistics.example(of: alice, seconds: Double(second)) { stream, engine in
        stream.packetFrames = 240
        stream.lookAheadNanoseconds = 2_500_000
        stream.roundTripNanoseconds = 400_000
        stream.playoutDelayNanoseconds = Int64(second) * 2_000_000
        stream.packetsReceived = Int64(second) * 190
        stream.packetsLost = Int64(second) * 10
        stream.jitterNanoseconds = 300_000
        stream.outputPeak = 0.1
        engine.capturePeriodNanoseconds = 2_500_000
        engine.playbackFillNanoseconds = 3_800_000
        engine.inputPeak = 0.5
      }
      scene.screen.note(figures, isWholeSecond: true, at: Double(second) + 1)
    }
    return scene
  }

  /// Nothing is lost of a language without spaces.
  @Test func longWordsGoOnInTheNextLine() {
    var scene = Scene()
    let text = String(repeating: "漢字かな", count: 20)
    scene.happen(.error(text), at: 1)
    let shown = scene.text(40, 24).filter { "漢字かな".contains($0) }
    #expect(shown == text)
  }

  @Test func aCallFillsTheUsualTerminal() {
    let rule = String(repeating: "─", count: 80)
    let picture = """
       sidetone
      \(rule)
        sip:alice@10.0.0.2                                              talking  0:05
        encrypted, new to you; compare the words: bronze blanket statue banjo

        mic  ██████████████████████████████████████████████████░░░░░░  -6 dB
        ear  █████████████████████████████████████░░░░░░░░░░░░░░░░░░░  -20 dB

        mouth to ear 21.5 ms = microphone 2.5 + packet 2.5 + codec 2.5 + network 0.2
          + jitter buffer 10.0 + loudspeaker 3.8
        delay 21.5 ms                                                               50

                                                                              ▁▂▃▄▆
                                                                              █████
        loss 5.0 %                                                             ████ 5
        jitter 0.3 ms                                                         ▁▁▁▁▁ 5

        0:00  Calling sip:alice@10.0.0.2 ...
        0:01  Encrypted, with a side that is new to you. The far side must see the
              same words: bronze blanket statue banjo.
        0:01  Connected with sip:alice@10.0.0.2.

      \(rule)
        m mute  o hold  r record  t transfer  v same words  0-9*# digits  h hang up
      """
    #expect(talking().text(80, 24) == picture)
  }

  @Test func aSmallTerminalWithoutUnicodeShowsWhatMatters() {
    let rule = String(repeating: "-", count: 44)
    let picture = """
       sidetone
      \(rule)
        sip:alice@10.0.0.2          talking  0:05
        encrypted, new to you; compare the words:
        bronze blanket statue banjo

        mic  ##################..  -6 dB
        ear  #############.......  -20 dB

        mouth to ear 21.5 ms = microphone 2.5
      \(rule)
        m mute  o hold  r record  t transfer
        v same words  0-9*# digits  h hang up
      """
    #expect(talking(isUnicode: false).text(44, 13) == picture)
  }

  @Test func aSecondCallerIsShownWithTheKeysForIt() {
    var scene = talking()
    scene.happen(.incoming(bob, from: "sip:bob@10.0.0.3"), at: 6)
    let text = scene.text(80, 24)
    #expect(text.contains("! sip:bob@10.0.0.3"))
    #expect(text.contains("a answer  d decline  e end and answer"))
    scene.happen(.held(alice), at: 7)
    scene.happen(.connected(bob, to: "sip:bob@10.0.0.3"), at: 7)
    scene.happen(.secured(bob, .open), at: 7)
    scene.happen(.heldByFarSide(bob), at: 8)
    scene.press("m")
    let lines = scene.text(80, 24).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[2].contains("on hold") && !lines[2].contains("MUTED"))
    #expect(lines.contains { $0.contains("holds you, MUTED") })
    #expect(lines.contains { $0.contains("NOT ENCRYPTED") })
    #expect(lines.contains { $0.contains("o swap  c join") })
  }

  @Test func aTransferAsksForItsTarget() {
    var scene = talking()
    scene.press("tsip:carol@h")
    #expect(scene.text(80, 24).hasSuffix("  Transfer to: sip:carol@h_"))
    scene.press("\n")
    #expect(!scene.text(80, 24).contains("Transfer to"))
  }

  @Test func figuresGoWithTheVoice() {
    var scene = talking()
    scene.screen.note(nil, isWholeSecond: true, at: 7)
    #expect(!scene.text(80, 24).contains("mouth to ear"))
    scene.happen(.ended(alice, .hungUp), at: 8)
    let text = scene.text(80, 24)
    #expect(text.contains("waits for calls"))
    #expect(text.contains("0:08  Call ended: hung up."))
    #expect(text.hasSuffix("  Ctrl-C end"))
  }

  @Test(arguments: [(1, 1), (3, 40), (200, 3), (20, 10), (500, 200)])
  func anySizeIsFilledAndNotExceeded(columns: Int, rows: Int) {
    let picture = talking().screen.picture(columns: columns, rows: rows)
    #expect(picture.lines.count == rows)
    #expect(picture.lines.allSatisfy { $0.columns <= columns })
  }

  @Test func aFarSidesNameSteersNoTerminal() {
    var scene = Scene()
    scene.happen(.incoming(bob, from: "\u{1B}[2J日本\u{9B}31m\r\nx"), at: 0)
    let picture = scene.screen.picture(columns: 60, rows: 12)
    #expect(
      !picture.text.unicodeScalars.contains {
        $0.properties.generalCategory == .control && $0 != "\n"
      }
    )
    #expect(picture.lines.allSatisfy { $0.columns <= 60 })
  }
}
