// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "OwnView",
    dependencies: [.package(name: "MeshLedger", path: "../../..")],
    targets: [
        .executableTarget(
            name: "own-view",
            dependencies: [
                .product(name: "MeshLedger", package: "MeshLedger"), .product(name: "MeshCommands", package: "MeshLedger"),
            ],
            path: "Sources/OwnView", swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
