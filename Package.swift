// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(
  name: "ArgumentParser",
  package: "swift-argument-parser"
)
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let histogram = Target.Dependency.product(name: "Histogram", package: "hdrhistogram-swift")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let toml = Target.Dependency.product(name: "TOMLKit", package: "TOMLKit")

/// A C library, or the kernel's interface, as Swift imports it.
func system(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
  .systemLibrary(
    name: name,
    path: "Sources/System/\(name)",
    pkgConfig: pkgConfig,
    providers: apt.map { [.apt([$0])] }
  )
}

/// The modules that the fuzzer watches; `make fuzz` names them.
///
/// libFuzzer looks at all that it watches after each input: what does not read it costs time.
let fuzzed = Context.environment["SIDETONE_FUZZER"]?.split(separator: " ").map(String.init)

/// What a module is compiled with.
func settings(of name: String) -> [SwiftSetting] {
  let isFuzzed = fuzzed?.contains(name) ?? false
  return strict + (isFuzzed ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])
}

/// A module in the folder of its layer.
func module(_ layer: String, _ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(
    name: name,
    dependencies: dependencies,
    path: "Sources/\(layer)/\(name)",
    swiftSettings: settings(of: name)
  )
}

func example(
  _ name: String,
  _ dependencies: [Target.Dependency],
  exclude excluded: [String] = [],
  resources: [Resource]? = nil
) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: "Examples/\(name)",
    exclude: excluded,
    resources: resources,
    swiftSettings: strict
  )
}

/// Tests are not optimized, which halves the time that their compilation takes; what they test is.
let testing = strict + [.unsafeFlags(["-Onone"])]

/// The tests of a module, in the folder of its name.
func tests(
  _ module: String,
  _ dependencies: [Target.Dependency] = [],
  exclude excluded: [String] = []
) -> Target {
  .testTarget(
    name: module + "Tests",
    dependencies: dependencies,
    exclude: excluded,
    swiftSettings: testing
  )
}

/// A program that a test runs beside itself.
func probe(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name,
    dependencies: dependencies,
    path: "Tests/probes/\(name)",
    swiftSettings: strict
  )
}

/// Linking of programs that run where Swift is not installed: with Swift's own libraries inside.
///
/// All symbols are bound at the start, not by the first call of a function on the voice thread, and
/// cannot be changed afterwards.
/// `make` sets the variable for programs: tests cannot be linked so. What is compiled does not
/// depend on it. The libraries named are those that Foundation's own objects do not ask for.
let programLinking: [LinkerSetting] =
  Context.environment["SIDETONE_STATIC"] == nil
  ? []
  : [
    .unsafeFlags(
      ["-static-stdlib"]
        + ["CoreFoundation", "_FoundationCShims", "_FoundationCollections", "_FoundationICU"]
        .map { "-l\($0)" }
        + ["-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]
    )
  ]

/// What the benchmarks need beyond the product: JACK, WebRTC's filters, other programs, a scorer of
/// speech.
///
/// `make build-bench` sets the variable; a plain `swift build`, or a package that depends on this
/// one, needs none of it.
let benchmarks: [Target] =
  Context.environment["SIDETONE_BENCHMARKS"] == nil
  ? []
  : [
    .systemLibrary(
      name: "CJack",
      path: "Benchmarks/CJack",
      pkgConfig: "jack",
      providers: [.apt(["libjack-jackd2-dev"])]
    ),
    .target(
      name: "CRawALSA",
      path: "Benchmarks/CRawALSA",
      linkerSettings: [.linkedLibrary("asound")]
    ),
    .target(
      name: "CRawVoice",
      path: "Benchmarks/CRawVoice",
      linkerSettings: [.linkedLibrary("opus"), .linkedLibrary("speexdsp")]
    ),
    .target(
      name: "CWebRTCAudio",
      path: "Benchmarks/CWebRTCAudio",
      cxxSettings: [
        .define("WEBRTC_POSIX"), .define("WEBRTC_AUDIO_PROCESSING_ONLY_BUILD"),
        .unsafeFlags(["-I/usr/include/webrtc_audio_processing"]),
      ],
      linkerSettings: [.linkedLibrary("webrtc_audio_processing")]
    ),
    .target(
      name: "Rig",
      dependencies: [
        "CJack", "CLinux", "CRawVoice", "Drawing", "MediaCore", "ProgramRig", "RealTime", "RTP",
        "Simulation", "SpeechDSP", "VoiceEngine",
      ],
      path: "Benchmarks/Rig",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "bench",
      dependencies: [
        "ALSAAudio", "AudioRouting", "AVFAudio", "CallKit", "CallSecurity", "Codecs", "CRawALSA",
        "CRawVoice", "CWebRTCAudio", "Drawing", "MediaCore", "Playout", "ProgramRig", "RealTime",
        "Rig", "RTP", "SidetonePhone", "SIPSignalling", "Simulation", "SpeechDSP", "SRTP",
        "UDPTransport", "VoiceEngine", argumentParser,
      ],
      path: "Benchmarks/bench",
      swiftSettings: strict,
      linkerSettings: programLinking
    ),
    .executableTarget(
      name: "alsa-pass-through",
      dependencies: ["CRawALSA"],
      path: "Benchmarks/alsa-pass-through",
      linkerSettings: [.linkedLibrary("asound")]
    ),
  ]

/// What the program is made of.
let programDependencies: [Target.Dependency] = [
  "MediaCore", "RealTime", "ALSAAudio", "AudioRouting", "AVFAudio", "CallKit", "CallScreen",
  "CallSecurity", "CallState", "CallStore", "CTerminal", "DesktopServices", "Drawing",
  "FoundationAdditions",
  "LocalSocket", "Localization", "SidetonePhone", "Simulation", "SIPSignalling", "SpeechDSP",
  "SRTP", "UDPTransport", "VoiceEngine",
  argumentParser, histogram, logging, toml,
]

/// The program; for the fuzzer a library, whose `main` has the name that it has in tests.
let program: Target =
  fuzzed == nil
  ? .executableTarget(
    name: "CommandLine",
    dependencies: programDependencies,
    path: "Sources/Tools/CommandLine",
    swiftSettings: strict,
    linkerSettings: programLinking
  )
  : .target(
    name: "CommandLine",
    dependencies: programDependencies,
    path: "Sources/Tools/CommandLine",
    swiftSettings: settings(of: "CommandLine") + [
      .unsafeFlags(
        ["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "CommandLine_main"]
      )
    ]
  )

/// The fuzzer, which needs libFuzzer.
let fuzzer: [Target] =
  fuzzed == nil
  ? []
  : [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/CLibFuzzer"),
    .executableTarget(
      name: "fuzz",
      dependencies: [
        "ALSAAudio", "AudioRouting", "CallKit", "CallSecurity", "CallStore", "CDBus",
        "CLibFuzzer", "CLibre", "CLinux", "CommandLine", "DesktopServices",
        "DigestAuthentication", "ICE", "MediaCore", "ProgramRig", "PushKit", "RealTime", "RTP",
        "SidetonePhone", "Simulation", "SIPRules", "SIPSignalling", "SRTP", "UDPTransport",
        "VoiceStream",
      ],
      path: "Tests/Fuzz",
      exclude: ["Corpus"],
      swiftSettings: strict + [.unsafeFlags(["-sanitize=fuzzer"])],
      linkerSettings: [.unsafeFlags(["-use-ld=lld", "-sanitize=fuzzer"])]
    ),
  ]

/// The modules whose tests are built; all of them if nobody says which.
///
/// `make sanitize` sets the variable: it runs the tests of few modules, in a build of its own.
let testedModules = Context.environment["SIDETONE_TESTS"]?.split(separator: " ").map(String.init)

let package = Package(
  name: "sidetone",
  products: [
    .library(name: "CallKit", targets: ["CallKit"]),
    .library(name: "AVFAudio", targets: ["AVFAudio"]),
    .library(name: "AVFoundation", targets: ["AVFoundation"]),
    .library(name: "Intents", targets: ["Intents"]),
    .library(name: "LiveCommunicationKit", targets: ["LiveCommunicationKit"]),
    .library(name: "PushKit", targets: ["PushKit"]),
    .library(name: "OSLog", targets: ["OSLog"]),
    .library(name: "SidetonePhone", targets: ["SidetonePhone"]),
    // What an app without SidetonePhone needs to carry a call's voice, as MonkeyCall does.
    .library(name: "ALSAAudio", targets: ["ALSAAudio"]),
    .library(name: "AudioRouting", targets: ["AudioRouting"]),
    .library(name: "SIPSignalling", targets: ["SIPSignalling"]),
    .library(name: "UDPTransport", targets: ["UDPTransport"]),
    .library(name: "VoiceEngine", targets: ["VoiceEngine"]),
    .executable(name: "sidetone", targets: ["CommandLine"]),
    .executable(name: "MonkeyCall", targets: ["MonkeyCall"]),
    .executable(name: "MonkeyCallDirectory", targets: ["MonkeyCallDirectory"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    .package(url: "https://github.com/LebJe/TOMLKit", from: "0.6.0"),
  ],
  // The folders of Sources are layers, listed bottom up: a module imports from its own layer and
  // below.
  targets: [
    system("CALSA", pkgConfig: "alsa", apt: "libasound2-dev"),
    system("COpus", pkgConfig: "opus", apt: "libopus-dev"),
    system("CSpeexDSP", pkgConfig: "speexdsp", apt: "libspeexdsp-dev"),
    system("CLibre", pkgConfig: "libre", apt: "libre-dev"),
    system("CDBus", pkgConfig: "dbus-1", apt: "libdbus-1-dev"),
    system("CIntl"),
    system("CSndfile", pkgConfig: "sndfile", apt: "libsndfile1-dev"),
    system("CPcap", pkgConfig: "libpcap", apt: "libpcap-dev"),
    system("CCrypto", pkgConfig: "libcrypto", apt: "libssl-dev"),
    system("CTLS", pkgConfig: "libssl", apt: "libssl-dev"),
    system("CLinux"),
    system("CTerminal"),
    module("Foundation", "MediaCore"),
    module("Foundation", "NetworkAddress"),
    module("Foundation", "RealTime", ["MediaCore", "CLinux"]),
    module("Foundation", "Localization", ["CIntl"]),

    module("Protocols", "RTP", ["MediaCore"]),
    module("Protocols", "CallState", ["MediaCore"]),
    module("Protocols", "ICE", ["MediaCore", "NetworkAddress"]),
    module("Protocols", "SIPRules", ["MediaCore", "NetworkAddress"]),
    module("Protocols", "SRTP", ["MediaCore", "RealTime", "RTP", "CCrypto"]),

    module("Signal", "Codecs", ["MediaCore", "COpus"]),
    module("Signal", "SpeechDSP", ["MediaCore", "CSpeexDSP"]),
    module("Signal", "Playout", ["MediaCore"]),

    module("Voice", "DeviceTiming", ["MediaCore"]),
    module("Voice", "VoiceStream", ["MediaCore", "RTP", "Codecs", "Playout", "SpeechDSP"]),
    module(
      "Voice",
      "VoiceEngine",
      ["MediaCore", "RealTime", "RTP", "SpeechDSP", "DeviceTiming", "VoiceStream", "CLinux"]
    ),
    module(
      "Voice",
      "EchoServer",
      ["MediaCore", "RealTime", "DeviceTiming", "VoiceEngine", "CLinux"]
    ),

    module("Linux", "ALSAAudio", ["MediaCore", "RealTime", "CALSA", "CLinux", "CSndfile"]),
    module("Linux", "UDPTransport", ["MediaCore", "NetworkAddress", "RealTime", "CLinux"]),
    module("Linux", "DesktopServices", ["RealTime", "CDBus"]),
    module("Linux", "LocalSocket"),
    module(
      "Linux",
      "AudioRouting",
      [
        "MediaCore", "RealTime", "SRTP", "VoiceEngine", "ALSAAudio", "UDPTransport",
        "DesktopServices",
      ]
    ),

    module("Apple", "FoundationAdditions"),
    module(
      "Apple",
      "AVFAudio",
      [
        "FoundationAdditions", "MediaCore", "RealTime", "SpeechDSP", "SRTP", "ALSAAudio",
        "AudioRouting", "DesktopServices", "UDPTransport", "VoiceEngine",
      ]
    ),
    module("Apple", "AVFoundation", ["AVFAudio"]),
    module("Apple", "Intents", ["FoundationAdditions"]),
    module("Apple", "CallStore", ["FoundationAdditions", grdb]),
    module(
      "Apple",
      "CallScreen",
      [
        "ALSAAudio", "CallState", "CLinux", "DesktopServices", "Localization", "MediaCore",
        "RealTime", logging,
      ]
    ),
    module(
      "Apple",
      "CallKit",
      [
        "CallScreen", "DesktopServices", "FoundationAdditions", "Intents", "MediaCore", "RealTime",
        "CallState", "CallStore", "AVFAudio", "AVFoundation",
        logging,
      ]
    ),
    module("Apple", "LiveCommunicationKit", ["AVFAudio", "AVFoundation", "CallKit", "CallStore"]),
    module("Apple", "PushKit", ["FoundationAdditions", "LocalSocket", logging]),
    module("Apple", "OSLog", [logging]),

    module("Phone", "CallSecurity", ["CTLS", "SRTP", "UDPTransport"]),
    module("Phone", "DigestAuthentication", ["CCrypto", "CLibre", "MediaCore", "RealTime"]),
    module(
      "Phone",
      "SIPSignalling",
      [
        "CallSecurity", "CLibre", "DigestAuthentication", "ICE", "MediaCore", "RealTime",
        "SIPRules",
        "SRTP", "UDPTransport",
      ]
    ),
    module(
      "Phone",
      "SidetonePhone",
      [
        "MediaCore", "RealTime", "RTP", "ALSAAudio", "AudioRouting", "CallKit", "CallStore",
        "CallSecurity", "AVFAudio", "DesktopServices", "EchoServer", "FoundationAdditions",
        "SIPSignalling", "SpeechDSP", "SRTP", "UDPTransport", "VoiceEngine", "VoiceStream",
      ]
    ),

    module("Tools", "Drawing"),
    module(
      "Tools",
      "Simulation",
      [
        "CPcap", "MediaCore", "CLinux", "RTP", "RealTime", "SpeechDSP", "SRTP", "VoiceEngine",
      ]
    ),
    program,

    example(
      "MonkeyCall",
      [
        "ALSAAudio", "AVFoundation", "CallKit", "Intents", "SIPSignalling", "SidetonePhone",
        "UDPTransport", "VoiceEngine", argumentParser,
      ],
      exclude: ["README.md"],
      resources: [.copy("Resources/monkey.png"), .copy("Resources/monkey.wav")]
    ),
    example("MonkeyCallDirectory", ["CallKit"]),

    .target(
      name: "BusFixture",
      dependencies: ["DesktopServices"],
      path: "Tests/BusFixture",
      swiftSettings: strict
    ),
    .target(
      name: "CallSystemFixture",
      dependencies: ["CallKit"],
      path: "Tests/CallSystemFixture",
      swiftSettings: strict
    ),
    tests("MediaCore", ["MediaCore"]),
    tests("RealTime", ["MediaCore", "RealTime"]),
    tests("RTP", ["RTP", "MediaCore", "Simulation"]),
    tests("SRTP", ["MediaCore", "RealTime", "Simulation", "SRTP"]),
    tests("CallState", ["CallState", "MediaCore", "Simulation"]),
    tests("Codecs", ["Codecs", "COpus", "MediaCore"]),
    tests("SpeechDSP", ["MediaCore", "Simulation", "SpeechDSP"]),
    tests("DeviceTiming", ["DeviceTiming", "MediaCore"]),
    tests("Playout", ["Playout", "MediaCore", "Simulation"]),
    tests("VoiceStream", ["VoiceStream", "MediaCore", "RTP", "Codecs", "Simulation"]),
    tests(
      "VoiceEngine",
      ["VoiceEngine", "MediaCore", "RealTime", "Simulation", "SpeechDSP", "VoiceStream"]
    ),
    tests(
      "EchoServer",
      [
        "EchoServer", "MediaCore", "RealTime", "Simulation", "UDPTransport", "VoiceEngine",
        "VoiceStream",
      ]
    ),
    tests("ALSAAudio", ["ALSAAudio", "MediaCore", "RealTime", "Simulation"]),
    tests("NetworkAddress", ["NetworkAddress"]),
    tests("UDPTransport", ["UDPTransport", "MediaCore", "RealTime"]),
    tests(
      "AudioRouting",
      ["ALSAAudio", "AudioRouting", "BusFixture", "DesktopServices", "MediaCore", "RealTime"]
    ),
    tests("DesktopServices", ["BusFixture", "CDBus", "DesktopServices"]),
    tests("LocalSocket", ["LocalSocket"]),
    tests(
      "AVFAudio",
      [
        "AVFAudio", "AVFoundation", "ALSAAudio", "AudioRouting", "BusFixture", "CLinux",
        "DesktopServices",
        "MediaCore", "RealTime", "SRTP", "UDPTransport", "VoiceEngine",
      ]
    ),
    tests("CallStore", ["CallStore", grdb]),
    tests(
      "CallKit",
      [
        "ALSAAudio", "AVFAudio", "BusFixture", "CallKit", "CallState", "CallStore",
        "CallSystemFixture", "DesktopServices",
      ]
    ),
    tests(
      "LiveCommunicationKit",
      [
        "ALSAAudio", "AVFAudio", "CallKit", "CallState", "CallStore", "CallSystemFixture",
        "LiveCommunicationKit",
      ]
    ),
    tests("FoundationAdditions", ["FoundationAdditions"]),
    tests("Intents", ["FoundationAdditions", "Intents"]),
    tests("PushKit", ["LocalSocket", "PushKit"]),
    tests("OSLog", ["OSLog", logging]),
    .target(name: "CVirtualTime", path: "Tests/CVirtualTime"),
    tests(
      "CallSecurity",
      ["CallSecurity", "CVirtualTime", "MediaCore", "Simulation", "SRTP", "UDPTransport"]
    ),
    tests("ICE", ["ICE", "MediaCore", "NetworkAddress", "Simulation"]),
    tests("SIPRules", ["MediaCore", "ProgramRig", "SIPRules"]),
    tests("DigestAuthentication", ["CLibre", "DigestAuthentication", "MediaCore"]),
    tests(
      "SIPSignalling",
      [
        "CallSecurity", "SIPSignalling", "CLibre", "ICE", "MediaCore", "ProgramRig", "RealTime",
        "SRTP", "UDPTransport",
      ]
    ),
    tests(
      "SidetonePhone",
      [
        "ALSAAudio", "AVFAudio", "CallKit", "CallSecurity", "MediaCore", "SIPSignalling",
        "SidetonePhone", "Simulation", "SRTP", "UDPTransport", "VoiceEngine", "VoiceStream",
      ]
    ),
    tests(
      "CallScreen",
      [
        "ALSAAudio", "BusFixture", "CallKit", "CallScreen", "CallState", "DesktopServices",
        "MediaCore",
      ]
    ),
    tests("Drawing", ["Drawing"]),
    tests("Localization", ["Localization"]),
    tests("Simulation", ["Simulation", "MediaCore", "RTP", "RealTime", "VoiceEngine"]),
    tests(
      "CommandLine",
      [
        "CommandLine", "ALSAAudio", "AudioRouting", "CallSecurity", "CallStore", "Localization",
        "MediaCore", "SidetonePhone", "Simulation", "SIPSignalling", "SpeechDSP", "SRTP",
        "VoiceEngine", "VoiceStream",
        argumentParser, toml,
      ]
    ),
    .systemLibrary(name: "CRig", path: "Tests/CRig"),
    .target(
      name: "ProgramRig",
      dependencies: ["CRig", "Drawing", "MediaCore", "RealTime", "Simulation"],
      path: "Tests/ProgramRig",
      swiftSettings: strict
    ),
    tests("ProgramRig", ["MediaCore", "ProgramRig"]),
    .target(name: "CAllocationCounter", path: "Tests/probes/CAllocationCounter"),
    probe(
      "allocation-probe",
      [
        "ALSAAudio", "AVFAudio", "CAllocationCounter", "EchoServer", "SpeechDSP", "SRTP",
        "UDPTransport", "VoiceEngine",
      ]
    ),
    probe("fault-probe", ["ALSAAudio", "AVFAudio", "MediaCore", "RealTime", "VoiceEngine"]),
    probe("directory-load", ["CallKit", "CallStore"]),
    probe("push-app", ["PushKit"]),
    .target(
      name: "CVirtualLoop",
      dependencies: ["CLibre"],
      path: "Tests/probes/CVirtualLoop"
    ),
    probe(
      "lossy-signalling",
      [
        "CVirtualLoop", "MediaCore", "RealTime", "SIPSignalling", "Simulation", "UDPTransport",
      ]
    ),
    tests(
      "Interop",
      ["BusFixture", "DesktopServices", "LocalSocket", "MediaCore", "ProgramRig", "Simulation"]
    ),
    tests("Desktop", ["ALSAAudio", "ProgramRig", "VoiceEngine"]),
    tests("Kernel", ["ProgramRig", "VoiceEngine"], exclude: ["Guest"]),
    tests(
      "Machine",
      [
        "CallKit", "CallSecurity", "CallState", "CLibre", "MediaCore", "SidetonePhone",
        "SIPSignalling", "VoiceEngine", "VoiceStream",
      ]
    ),
    tests("Repository"),
  ] + benchmarks + fuzzer,
  swiftLanguageModes: [.v6]
)

if fuzzed != nil { package.products.removeAll { $0.name == "sidetone" } }

if let testedModules {
  package.targets.removeAll { target in
    target.type == .test && !testedModules.contains { $0 + "Tests" == target.name }
  }
}

/// Modules hold structs of those below the ones that they import.
///
/// A module is compiled anew when one that it names has changed. A field added to a struct does not
/// change those that merely hold it, so a module that names only these would go on with the old
/// layout, and its program would crash (Swift 6.3). Each names all that it stands on.
let below = Dictionary(
  uniqueKeysWithValues: package.targets.map { target in
    let names = target.dependencies.compactMap { dependency in
      if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
    return (target.name, names)
  }
)
for target in package.targets {
  var unvisited = below[target.name] ?? []
  var reached = Set(unvisited)
  while let name = unvisited.popLast() {
    for next in below[name] ?? [] where reached.insert(next).inserted {
      unvisited.append(next)
      target.dependencies.append(.byName(name: next))
    }
  }
}
