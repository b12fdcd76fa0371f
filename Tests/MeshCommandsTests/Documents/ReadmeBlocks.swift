import Foundation
import TestKit
import Testing

/// Every Swift block of README.md and of the articles is a file that compiles as it stands, against the modules that the tests are built with.
struct ReadmeBlocks {
    /// The files of one program: those with `@main` go with the block before. Manifests are read by the package manager.
    private static func programs(_ document: Document) -> [[String]] {
        document.blocks(in: "swift").map(\.text).filter { !isManifest($0) }.reduce(into: []) { programs, block in
            if block.contains("@main"), !programs.isEmpty {
                programs[programs.count - 1].append(block)
            } else {
                programs.append([block])
            }
        }
    }

    private static func isManifest(_ block: String) -> Bool { block.contains("import PackageDescription") }

    private func compile(_ files: [String]) throws -> FinishedProcess {
        let folder = try TemporaryFolder()
        let isLibrary = files.count > 1
        let paths = try files.enumerated().map { place, text in
            let url = folder.file(isLibrary ? "File\(place).swift" : "main.swift")
            try Data(text.utf8).write(to: url)
            return url.path
        }
        let built = try BuiltProgram.url("meshledger").deletingLastPathComponent()
        let searched = try ([built.appendingPathComponent("Modules").path] + PackageRoot.moduleMaps(of: built)).flatMap {
            ["-I", $0]
        }
        return try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-swift-version", "6"] + (isLibrary ? ["-parse-as-library"] : []) + searched + paths)
    }

    @Test(.timeLimit(.minutes(30))) func `every Swift block of the documents compiles as it stands`() throws {
        let programs = try Document.all().map { Self.programs($0) }
        #expect(programs.flatMap { $0 }.count == 8 && programs.flatMap { $0 }.flatMap { $0 }.count == 9)
        for files in programs.flatMap({ $0 }) {
            let run = try compile(files)
            #expect(run.status == 0 && !run.text.contains("warning:"), "\(files[0].prefix(80)): \(run.text)")
        }
    }

    @Test func `a block without its import does not compile`() throws {
        let first = try #require(Self.programs(try Document.named("README")).first?.first)
        #expect(first.contains("import Foundation\n"))
        #expect(try compile([first.replacing("import Foundation\n", with: "")]).status != 0)
    }

    @Test func `the manifest in the README is one, and names a product of this package`() throws {
        let manifests = try Document.all().flatMap { $0.blocks(in: "swift") }.map(\.text).filter { Self.isManifest($0) }
        #expect(manifests.count == 1)
        let folder = try TemporaryFolder()
        try Data(manifests.joined().utf8).write(to: folder.file("Package.swift"))
        let run = try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/env"), ["swift", "package", "dump-package", "--package-path", folder.path])
        #expect(run.status == 0, "\(run.text)")
        let ours = try String(contentsOf: PackageRoot.url.appendingPathComponent("Package.swift"), encoding: .utf8)
        let named = manifests.joined().matches(of: /\.product\(name: "(\w+)", package: "MeshLedger"\)/).map { String($0.1) }
        #expect(!named.isEmpty)
        for product in named { #expect(ours.contains(".library(name: \"\(product)\""), "\(product)") }
    }
}
