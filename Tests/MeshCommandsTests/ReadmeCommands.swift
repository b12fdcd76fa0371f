import Foundation
import TestKit
import Testing

struct ReadmeCommands {
    /// The lines of all `sh` blocks, in order.
    private func commands() throws -> [String] {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        return readme.components(separatedBy: "```sh\n").dropFirst()
            .flatMap { $0.components(separatedBy: "```")[0].split(separator: "\n").map(String.init) }
    }

    @Test func `every command of the README runs in a new folder, in the order in which it stands there`() throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url()
        let all = try commands()
        #expect(all.count > 20)
        // That line needs a broker: IngestCommandTests runs it.
        let offline = all.filter { !$0.contains("ingest mqtt") }
        #expect(all.count - offline.count == 1)
        let script =
            "set -euo pipefail\nPATH=\(program.deletingLastPathComponent().path):$PATH\n" + offline.joined(separator: "\n")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        process.currentDirectoryURL = folder.url
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        for file in ["events.jsonl", "track.gpx", "positions.geojson", "device.csv"] {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(file).path)[.size] as? Int
            #expect((size ?? 0) > 300, "\(file)")
        }
    }
}
