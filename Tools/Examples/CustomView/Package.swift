// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "CustomView",
    dependencies: [.package(name: "MeshLedger", path: "../../..")],
    targets: [
        .executableTarget(
            name: "custom-view",
            dependencies: [
                .product(name: "MeshLedger", package: "MeshLedger"), .product(name: "MeshCommands", package: "MeshLedger"),
            ],
            path: "Sources/CustomView", swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
