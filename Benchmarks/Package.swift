// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of Sidetone never resolve what only the benchmarks need.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "benchmarks",
  dependencies: [
    .package(name: "sidetone", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CJack",
      pkgConfig: "jack",
      providers: [.apt(["libjack-jackd2-dev"])]
    ),
    .systemLibrary(name: "CTunnel"),
    .target(
      name: "Rig",
      dependencies: [
        "CJack", "CRawVoice", "CTunnel", .product(name: "Drawing", package: "sidetone"),
        .product(name: "Simulation", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "alsa-pass-through",
      dependencies: ["CRawALSA"],
      linkerSettings: [.linkedLibrary("asound")]
    ),
    .executableTarget(
      name: "bench-latency",
      dependencies: [
        "Rig", .product(name: "Simulation", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .target(
      name: "CRawVoice",
      linkerSettings: [.linkedLibrary("opus"), .linkedLibrary("speexdsp")]
    ),
    .executableTarget(
      name: "bench-cost",
      dependencies: [
        "CRawVoice", "Rig", .product(name: "AVFAudio", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-modules",
      dependencies: [
        "CRawVoice", "Rig", .product(name: "Simulation", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-page",
      dependencies: [
        "Rig", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-playout",
      dependencies: [
        "Rig", .product(name: "Simulation", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-scale",
      dependencies: [
        "Rig",
        .product(name: "SidetonePhone", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .target(name: "CAllocationCounter"),
    .target(name: "CRawALSA", linkerSettings: [.linkedLibrary("asound")]),
    .executableTarget(
      name: "voice-allocations",
      dependencies: [
        "CAllocationCounter",
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "AVFAudio", package: "sidetone"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-setup",
      dependencies: [
        "CRawALSA", "Rig",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "CallKit", package: "sidetone"),
        .product(name: "AVFAudio", package: "sidetone"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-desktop",
      dependencies: [
        "Rig", .product(name: "AVFAudio", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench-faults",
      dependencies: [
        "Rig", .product(name: "VoiceEngine", package: "sidetone"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "fault-probe",
      dependencies: [
        .product(name: "AVFAudio", package: "sidetone"),
        .product(name: "VoiceEngine", package: "sidetone"),
      ],
      swiftSettings: strict
    ),
    .executableTarget(
      name: "directory-load",
      dependencies: [
        .product(name: "CallKit", package: "sidetone"),
        .product(name: "CallStore", package: "sidetone"),
      ],
      swiftSettings: strict
    ),
  ],
  swiftLanguageModes: [.v6]
)
