import MediaCore
import SIPSignalling
import Testing
import VoiceStream

@testable import SidetonePhone

/// Limits of the far side's description that a stream keeps.
struct MediaLimitTests {
  @Test func packetsAreNoLongerThanTheFarSideTakes() {
    var configuration = PhoneConfiguration()
    configuration.packetFrames = 960
    func frames(_ most: Int?) -> Int {
      configuration.stream(for: .opus(longestPacketMilliseconds: most)).packetFrames
    }
    #expect(frames(Int(UInt16.max)) == 960)
    let expected = [960, 960, 960, 480, 480, 120, 960, 960]
    #expect([nil, 60, 20, 15, 10, 3, 1, 0].map(frames) == expected)
    #expect(!configuration.stream(for: .opus(longestPacketMilliseconds: 40)).adaptsPackets)
  }

  /// RFC 7587 section 6.1; its default of 3 ms stands for packets of 2.5 ms.
  @Test func packetsAreAsLongAsTheFarSideWantsThemAtLeast() {
    var configuration = PhoneConfiguration()
    configuration.packetFrames = 120
    func frames(_ least: Int?) -> Int {
      configuration.stream(for: .opus(shortestPacketMilliseconds: least)).packetFrames
    }
    let expected = [120, 120, 480, 960, 2_880, 2_880, 2_880, 120, 120]
    #expect([nil, 3, 10, 20, 50, 200, .max, 0, .min].map(frames) == expected)
  }

  @Test func fewBitsAreForTheVoice() {
    var configuration = PhoneConfiguration()
    configuration.packetFrames = 120
    let narrow = configuration.stream(for: .opus(bandwidth: 16_000))
    #expect(narrow.bitrate == 16_000 && narrow.packetFrames == 960 && narrow.usesConstantBitRate)
    // An average is no bandwidth, and no room for noise.
    let bounded = configuration.stream(for: .opus(largestBitrate: 16_000))
    #expect(bounded.packetFrames == 120 && bounded.usesConstantBitRate && !bounded.adaptsPackets)
    let average = configuration.stream(for: .opus(largestBitrate: 16_000, bandwidth: 48_000))
    #expect(average.bitrate == 16_000 && average.packetFrames == 120)
    let wide = configuration.stream(for: .opus(bandwidth: 64_000))
    #expect(wide.bitrate == min(64_000, configuration.bitrate) && wide.packetFrames == 120)
    // libopus is silent at such a rate in packets of 2.5 ms.
    configuration.bitrate = 8_000
    #expect(configuration.stream(for: .opus()).packetFrames == 240)
  }
}
