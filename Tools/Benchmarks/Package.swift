// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "LedgerBenchmarks",
    dependencies: [.package(name: "MeshLedger", path: "../..")],
    targets: [
        .executableTarget(
            name: "ledger-bench",
            dependencies: [.product(name: "MeshLedger", package: "MeshLedger")],
            path: "Sources/LedgerBench",
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
