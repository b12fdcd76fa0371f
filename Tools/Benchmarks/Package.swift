// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "LedgerBenchmarks",
    dependencies: [
        .package(name: "MeshLedger", path: "../.."),
        // The peer of queries. Only `query-bench` is built with it.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .executableTarget(
            name: "ledger-bench",
            dependencies: [.product(name: "MeshLedger", package: "MeshLedger")],
            path: "Sources/LedgerBench",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "query-bench",
            dependencies: [
                .product(name: "MeshLedger", package: "MeshLedger"), .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Sources/QueryBench",
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
