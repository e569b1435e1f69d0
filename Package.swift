// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "sidetone",
  products: [
    .library(name: "CallKit", targets: ["CallKit"]),
    .library(name: "AVFAudio", targets: ["AVFAudio"]),
    .library(name: "AVFoundation", targets: ["AVFoundation"]),
    .library(name: "Intents", targets: ["Intents"]),
    .library(name: "PushKit", targets: ["PushKit"]),
    .library(name: "CallStore", targets: ["CallStore"]),
    .library(name: "Sidetone", targets: ["Sidetone"]),
    .library(name: "VoiceEngine", targets: ["VoiceEngine"]),
    .library(name: "ALSAIO", targets: ["ALSAIO"]),
    .library(name: "MediaTime", targets: ["MediaTime"]),
    .library(name: "RealTime", targets: ["RealTime"]),
    .library(name: "SIPSignalling", targets: ["SIPSignalling"]),
    .library(name: "SpeechDSP", targets: ["SpeechDSP"]),
    .library(name: "UDPTransport", targets: ["UDPTransport"]),
    .library(name: "Simulation", targets: ["Simulation"]),
    .library(name: "Drawing", targets: ["Drawing"]),
    .executable(name: "sidetone", targets: ["sidetone"]),
    .executable(name: "MonkeyCall", targets: ["MonkeyCall"]),
    .executable(name: "MonkeyCallDirectory", targets: ["MonkeyCallDirectory"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
  ],
  targets: [
    // Layer 0: system libraries.
    .systemLibrary(
      name: "CALSA",
      pkgConfig: "alsa",
      providers: [.apt(["libasound2-dev"])]
    ),
    .systemLibrary(
      name: "COpus",
      pkgConfig: "opus",
      providers: [.apt(["libopus-dev"])]
    ),
    .systemLibrary(
      name: "CSpeexDSP",
      pkgConfig: "speexdsp",
      providers: [.apt(["libspeexdsp-dev"])]
    ),
    .systemLibrary(
      name: "CRe",
      pkgConfig: "libre",
      providers: [.apt(["libre-dev"])]
    ),
    .systemLibrary(
      name: "CPcap",
      pkgConfig: "libpcap",
      providers: [.apt(["libpcap-dev"])]
    ),
    .systemLibrary(
      name: "CDBus",
      pkgConfig: "dbus-1",
      providers: [.apt(["libdbus-1-dev"])]
    ),
    .systemLibrary(name: "CRealTime"),

    // Layer 1: values, and what a real-time thread stands on.
    .target(name: "MediaTime", swiftSettings: strict),
    .target(
      name: "RealTime",
      dependencies: ["MediaTime", "CRealTime"],
      swiftSettings: strict
    ),

    .target(name: "FoundationAdditions", swiftSettings: strict),

    // Layer 2: sans-I/O cores.
    .target(name: "RTP", dependencies: ["MediaTime"], swiftSettings: strict),
    .target(name: "G711", dependencies: ["MediaTime"], swiftSettings: strict),
    .target(name: "Playout", dependencies: ["MediaTime"], swiftSettings: strict),
    .target(name: "CallState", dependencies: ["MediaTime"], swiftSettings: strict),

    // Layer 3: owners of C codecs and filters, and thin I/O.
    .target(
      name: "OpusCodec",
      dependencies: ["MediaTime", "COpus"],
      swiftSettings: strict
    ),
    .target(
      name: "SpeechDSP",
      dependencies: ["MediaTime", "CSpeexDSP"],
      swiftSettings: strict
    ),
    .target(
      name: "ALSAIO",
      dependencies: ["MediaTime", "RealTime", "CALSA", "CRealTime"],
      swiftSettings: strict
    ),
    .target(
      name: "UDPTransport",
      dependencies: ["MediaTime", "RealTime", "CRealTime"],
      swiftSettings: strict
    ),

    .target(
      name: "CallStore",
      dependencies: [.product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: strict
    ),

    .target(name: "DesktopBus", dependencies: ["CDBus"], swiftSettings: strict),

    // Layer 4: the voice thread, the audio session, the signalling.
    .target(
      name: "VoiceEngine",
      dependencies: [
        "MediaTime", "RealTime", "RTP", "G711", "Playout", "OpusCodec", "SpeechDSP", "CRealTime",
      ],
      swiftSettings: strict
    ),
    .target(
      name: "AVFAudio",
      dependencies: [
        "MediaTime", "RealTime", "SpeechDSP", "ALSAIO", "DesktopBus", "UDPTransport",
        "VoiceEngine",
      ],
      swiftSettings: strict
    ),
    .target(
      name: "SIPSignalling",
      dependencies: ["CRe"],
      swiftSettings: strict
    ),

    // Layer 5: Apple's names.
    .target(name: "AVFoundation", dependencies: ["AVFAudio"], swiftSettings: strict),
    .target(
      name: "CallKit",
      dependencies: [
        "FoundationAdditions", "MediaTime", "RealTime", "CallState", "CallStore", "AVFAudio",
        "AVFoundation",
      ],
      swiftSettings: strict
    ),
    .target(name: "Intents", dependencies: ["FoundationAdditions"], swiftSettings: strict),
    .target(name: "PushKit", swiftSettings: strict),

    // Layer 6: one phone, and where its user sees calls.
    .target(
      name: "CallScreen",
      dependencies: ["ALSAIO", "CallKit", "CallState", "DesktopBus", "MediaTime", "RealTime"],
      swiftSettings: strict
    ),
    .target(
      name: "Sidetone",
      dependencies: [
        "MediaTime", "RealTime", "RTP", "ALSAIO", "CallKit", "AVFAudio", "SIPSignalling",
        "SpeechDSP", "UDPTransport", "VoiceEngine",
      ],
      swiftSettings: strict
    ),

    // Layer 7: the command line.
    .executableTarget(
      name: "sidetone",
      dependencies: [
        "MediaTime", "RealTime", "ALSAIO", "AVFAudio", "CallKit", "CallScreen", "CallStore",
        "Drawing", "Sidetone", "Simulation", "SIPSignalling", "SpeechDSP", "UDPTransport",
        "VoiceEngine", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Histogram", package: "hdrhistogram-swift"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict
    ),

    // The documentation's worked example, and its call directory extension.
    .executableTarget(
      name: "MonkeyCall",
      dependencies: [
        "ALSAIO", "AVFoundation", "CallKit", "Intents", "SIPSignalling", "Sidetone", "UDPTransport",
        "VoiceEngine", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "MonkeyCallDirectory",
      dependencies: ["CallKit"],
      swiftSettings: strict
    ),

    // Beside the layers: whole calls in virtual time, and pictures of what was measured.
    .target(
      name: "Simulation",
      dependencies: [
        "CPcap", "MediaTime", "CRealTime", "RTP", "RealTime", "SpeechDSP", "VoiceEngine",
      ],
      swiftSettings: strict
    ),
    .target(name: "Drawing", swiftSettings: strict),

    // Tests mirror the modules.
    .testTarget(
      name: "SimulationTests",
      dependencies: ["Simulation", "MediaTime", "RTP", "RealTime", "VoiceEngine"],
      swiftSettings: strict
    ),
    .testTarget(name: "DrawingTests", dependencies: ["Drawing"], swiftSettings: strict),
    .testTarget(
      name: "RTPTests",
      dependencies: ["RTP", "MediaTime", "Simulation"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "UDPTransportTests",
      dependencies: ["UDPTransport", "MediaTime", "RealTime"],
      swiftSettings: strict
    ),
    .testTarget(name: "G711Tests", dependencies: ["G711", "MediaTime"], swiftSettings: strict),
    .testTarget(
      name: "PlayoutTests",
      dependencies: ["Playout", "MediaTime", "Simulation"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CallStateTests",
      dependencies: ["CallState", "MediaTime", "Simulation"],
      swiftSettings: strict
    ),
    .testTarget(name: "InteropTests", dependencies: ["Simulation"], swiftSettings: strict),
    .testTarget(
      name: "VoiceEngineTests",
      dependencies: [
        "VoiceEngine", "MediaTime", "RealTime", "RTP", "G711", "OpusCodec", "Simulation",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "ALSAIOTests",
      dependencies: ["ALSAIO", "MediaTime", "RealTime", "Simulation"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "AVFAudioTests",
      dependencies: [
        "AVFAudio", "ALSAIO", "MediaTime", "RealTime", "UDPTransport", "VoiceEngine",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "SIPSignallingTests",
      dependencies: ["SIPSignalling", "CRe"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CallStoreTests",
      dependencies: ["CallStore", .product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CommandTests",
      dependencies: ["sidetone", "ALSAIO", "CallStore"],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CallScreenTests",
      dependencies: [
        "ALSAIO", "AVFAudio", "CallKit", "CallScreen", "CallState", "DesktopBus", "MediaTime",
      ],
      swiftSettings: strict
    ),
    .testTarget(
      name: "CallKitTests",
      dependencies: [
        "PushKit", "CallKit", "CallState", "AVFAudio", "ALSAIO", "Intents",
      ],
      swiftSettings: strict
    ),
    .testTarget(name: "RepositoryTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
