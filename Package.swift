// swift-tools-version: 6.3
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableExperimentalFeature("Lifetimes"),
    .treatAllWarnings(as: .error),
]

/// A room of the library. Imports go down only: `Tools/test` compares each file's imports with what its target declares here.
func room(_ name: String, _ dependencies: [Target.Dependency] = [], documents: [String] = []) -> Target {
    .target(name: name, dependencies: dependencies, exclude: documents, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: ["TestKit"] + dependencies, swiftSettings: settings)
}

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let sockets: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
]
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yaml = Target.Dependency.product(name: "Yams", package: "Yams")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

// In release, the program and SQLite's extension contain Swift's libraries: they start in about half the time, and need no toolchain to run.
let swiftLibraries = [
    "Foundation", "FoundationInternationalization", "FoundationEssentials", "CoreFoundation", "_FoundationCollections",
    "_FoundationCShims",
    "_FoundationICU", "swift_StringProcessing", "swift_RegexParser", "swift_Builtin_float",
]
let containsSwift = LinkerSetting.unsafeFlags(
    ["-static-stdlib", "-Xlinker", "--start-group"] + swiftLibraries.map { "-l\($0)" } + ["-Xlinker", "--end-group", "-lstdc++"],
    .when(configuration: .release))

let package = Package(
    name: "MeshLedger",
    products: [
        .library(name: "MeshLedger", targets: ["MeshLedger"]),
        .executable(name: "meshledger", targets: ["LedgerMain"]),
        .library(name: "MeshCommands", targets: ["MeshCommands"]),
        .library(name: "MeshIngest", targets: ["MeshIngest"]),
        .library(name: "MeshLedgerExtension", type: .dynamic, targets: ["LedgerExtension"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ],
    targets: [
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CXXHash", pkgConfig: "libxxhash", providers: [.apt(["libxxhash-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // SQLite's functions as a host passes them to an extension: never those of a library that is linked.
        .target(name: "CSQLiteExtension"),
        room("LMDB", ["CLMDB"], documents: ["FINDINGS.md"]),
        room("ProtobufWire"),
        // Public, since the compiler does not specialise generic code of another module that is `package`. The library does not show it.
        room("FlatCollections"),
        room("MeshCrypto", ["CCrypto", "CXXHash"]),
        room(
            "EventLog", ["LMDB", "ProtobufWire", "MeshCrypto", "CZstd", logging],
            documents: ["FORMAT.md", "DELETIONS.md"]),
        room("LogTransfer", ["EventLog", "LMDB", "ProtobufWire", "MeshCrypto"], documents: ["RECORDING.md"]),
        room("Meshtastic", ["ProtobufWire", "MeshCrypto"]),
        room("Projections", ["FlatCollections", "EventLog", "LMDB", "ProtobufWire", "MeshCrypto", logging]),
        room("ViewQuery", ["FlatCollections", "Projections", "LMDB", "ProtobufWire", "MeshCrypto"]),
        room(
            "MeshViews",
            ["FlatCollections", "Meshtastic", "Projections", "ViewQuery", "EventLog", "LMDB", "ProtobufWire", "MeshCrypto"],
            documents: ["views.proto", "FOLD.md", "INDEXES.md"]),
        room(
            "MeshLedger",
            [
                "MeshViews", "ViewQuery", "Projections", "FlatCollections", "Meshtastic", "LogTransfer", "EventLog", "LMDB",
                "ProtobufWire",
                "MeshCrypto",
                logging,
            ],
            documents: ["Control/CONTROL.md", "PUBLIC-API.txt"]),
        room(
            "MeshTables",
            [
                "CSQLiteExtension", "MeshLedger", "ViewQuery", "Projections", "FlatCollections", "Meshtastic", "EventLog", "LMDB",
                "ProtobufWire", "MeshCrypto", "CZstd",
            ]),
        room("MeshSimulator", ["Meshtastic", "ProtobufWire", "MeshCrypto"]),
        room(
            "MeshIngest",
            ["MeshLedger", "Meshtastic", "EventLog", "ProtobufWire", "MeshCrypto", "CMosquitto", "CZlib", "CZstd", logging]
                + sockets),
        room(
            "MeshCommands",
            [
                "MeshIngest", "MeshTables", "MeshSimulator", "MeshLedger", "ViewQuery", "Projections", "Meshtastic", "EventLog",
                "ProtobufWire", "LMDB", "CSQLite", arguments, logging, lifecycle, signals, yaml,
            ]),
        .executableTarget(
            name: "LedgerMain", dependencies: ["MeshCommands"], swiftSettings: settings, linkerSettings: [containsSwift]),
        .target(
            name: "LedgerExtension", dependencies: ["MeshTables", "MeshLedger", "CSQLiteExtension"], swiftSettings: settings,
            linkerSettings: [containsSwift]),

        .target(name: "TestWidth", path: "Tests/TestWidth"),
        .target(name: "TestKit", dependencies: ["TestWidth", "CZstd"], path: "Tests/TestKit", swiftSettings: settings),
        .target(name: "LogKit", dependencies: ["EventLog", "LMDB", "TestKit"], path: "Tests/LogKit", swiftSettings: settings),
        .target(
            name: "FuzzKit", dependencies: ["MeshLedger", "Meshtastic", "EventLog", "MeshCrypto", "ProtobufWire", "TestKit"],
            path: "Tests/FuzzKit", swiftSettings: settings),
        .target(
            name: "QueryKit",
            dependencies: ["MeshTables", "MeshLedger", "ViewQuery", "MeshSimulator", "CSQLite", "TestKit"],
            path: "Tests/QueryKit",
            swiftSettings: settings),
        .executableTarget(
            name: "querylab", dependencies: ["QueryKit", "MeshLedger"], path: "Tests/QueryLab", swiftSettings: settings),
        .executableTarget(
            name: "meshfuzz", dependencies: ["FuzzKit", "Meshtastic"], path: "Tests/Fuzz", swiftSettings: settings),
        .executableTarget(
            name: "crashchild", dependencies: ["EventLog"], path: "Tests/CrashChild", swiftSettings: settings),
        .executableTarget(
            name: "damagelab",
            dependencies: [
                "MeshIngest", "MeshLedger", "ViewQuery", "Projections", "Meshtastic", "LogTransfer", "EventLog", "LMDB",
                "ProtobufWire", "MeshCrypto",
                "CZstd", "MeshSimulator", "LogKit", "TestKit",
            ],
            path: "Tests/DamageLab", swiftSettings: settings),
        tests("LMDBTests", ["LMDB"]),
        tests("ProtobufWireTests", ["ProtobufWire"]),
        tests("MeshCryptoTests", ["MeshCrypto"]),
        tests("EventLogTests", ["LogKit", "LogTransfer", "EventLog", "LMDB", "MeshCrypto"]),
        tests("LogTransferTests", ["LogKit", "LogTransfer", "EventLog", "LMDB", "MeshCrypto"]),
        tests("MeshtasticTests", ["FuzzKit", "Meshtastic", "MeshCrypto", "ProtobufWire"]),
        tests("ProjectionsTests", ["Projections", "FlatCollections", "EventLog", "LMDB", "ProtobufWire"]),
        tests("ViewQueryTests", ["ViewQuery", "Projections", "EventLog", "LMDB", "ProtobufWire"]),
        tests(
            "MeshViewsTests",
            [
                "MeshLedger", "MeshViews", "ViewQuery", "Projections", "Meshtastic", "EventLog", "LMDB", "ProtobufWire",
                "MeshSimulator", "MeshCrypto", "FuzzKit", "QueryKit", "LogKit", logging,
            ]),
        tests("MeshSimulatorTests", ["MeshSimulator", "Meshtastic", "MeshCrypto", "ProtobufWire"]),
        tests(
            "MeshIngestTests",
            ["MeshIngest", "MeshLedger", "Meshtastic", "EventLog", "ProtobufWire", "MeshSimulator", "CMosquitto", "CZstd"]),
        tests(
            "MeshTablesTests",
            [
                "MeshTables", "MeshCommands", "QueryKit", "MeshSimulator", "MeshLedger", "ViewQuery", "Meshtastic", "EventLog",
                "ProtobufWire",
            ]),
        tests(
            "MeshCommandsTests",
            [
                "MeshCommands", "MeshIngest", "MeshSimulator", "MeshLedger", "MeshTables", "ViewQuery", "Meshtastic", "EventLog",
                "MeshCrypto",
                "ProtobufWire",
                arguments,
            ]),
    ]
)

// To build only some test targets: their names, or `optimized` for those that `Tools/test` runs in release. Of these, it is the library that is
// optimized: optimized tests take longer to build than the library, and so does a library whose every part can be tested.
if let names = Context.environment["MESHLEDGER_TESTS"] {
    let optimized = ["LMDB", "EventLog", "LogTransfer", "Meshtastic", "Projections", "ViewQuery"]
    let isOptimized = names == "optimized"
    let chosen = isOptimized ? optimized.map { $0 + "Tests" } : names.split(separator: ",").map(String.init)
    package.targets.removeAll { $0.type == .test && !chosen.contains($0.name) }
    for target in package.targets where isOptimized {
        if target.type == .test { target.swiftSettings?.append(.unsafeFlags(["-Onone"])) }
        if optimized.contains(target.name) { target.swiftSettings?.append(.unsafeFlags(["-enable-testing"])) }
    }
}
