import Foundation
import TestKit
import Testing

/// Every Swift block of the README is a file that compiles as it stands, against the modules that the tests are built with.
struct ReadmeBlocks {
    private static func blocks() throws -> [String] {
        try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
            .components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    /// Files that belong together: those with `@main` go with the one before.
    private static func programs() throws -> [[String]] {
        try blocks().reduce(into: []) { programs, block in
            if block.contains("@main"), !programs.isEmpty {
                programs[programs.count - 1].append(block)
            } else {
                programs.append([block])
            }
        }
    }

    private func compile(_ files: [String]) throws -> FinishedProcess {
        let folder = try TemporaryFolder()
        let isLibrary = files.count > 1
        let paths = try files.enumerated().map { place, text in
            let url = folder.file(isLibrary ? "File\(place).swift" : "main.swift")
            try Data(text.utf8).write(to: url)
            return url.path
        }
        let modules = try BuiltProgram.url().deletingLastPathComponent().appendingPathComponent("Modules").path
        let headers = ["CLMDB", "CCrypto", "CXXHash", "CZstd", "CMosquitto"].map {
            PackageRoot.url.appendingPathComponent("Sources/\($0)").path
        }
        let searched = ([modules] + headers).flatMap { ["-I", $0] }
        return try FinishedProcess(
            URL(fileURLWithPath: "/usr/bin/env"),
            ["swiftc", "-typecheck", "-swift-version", "6"] + (isLibrary ? ["-parse-as-library"] : []) + searched + paths)
    }

    @Test(.timeLimit(.minutes(10))) func `every Swift block of the README compiles as it stands`() throws {
        let programs = try Self.programs()
        #expect(programs.count == 5 && programs.flatMap { $0 }.count == 6)
        for files in programs {
            let run = try compile(files)
            #expect(run.status == 0 && !run.text.contains("warning:"), "\(files[0].prefix(80)): \(run.text)")
        }
    }

    @Test func `a block without its import does not compile`() throws {
        let first = try #require(try Self.blocks().first)
        #expect(try compile([first.replacing("import Foundation\n", with: "")]).status != 0)
    }
}
