import Foundation
import TestKit
import Testing

struct ReadmeCommands {
    /// The tools of which the README says what they prove, and how a small share of each is run.
    private static let proofs = [
        "model": ["steps=100", "length=100"], "tamper": ["count=2"], "crash-images": ["scenarios=1", "images=20", "appends=3"],
        "failing-calls": ["runs=2"], "kill9": ["kills=2"], "bitrot": ["bits=4", "bytes=65536", "reports=0"],
        "read-ledger": ["--checkpoint", "Tests/Fixtures/format-2/mesh.ledger"], "memory": ["--events", "20000"],
        "queries": ["200"], "campaign": ["--seconds", "4", "--part", "making"], "histories": ["count=2"], "folds": ["count=2"],
    ]

    @Test(.timeLimit(.minutes(15)))
    func `every tool that the README says proves the log runs`() throws {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        let section = readme.components(separatedBy: "## How it is proved\n").last?.components(separatedBy: "\n## ").first ?? ""
        let tools = section.split(separator: "\n").filter { $0.hasPrefix("| `Tools/") }
            .map { String($0.dropFirst("| `Tools/".count).prefix { $0 != "`" }) }
        #expect(tools.sorted() == Self.proofs.keys.sorted())
        // Without the official decoder, which IndependentFold is skipped without, there is no other fold.
        for tool in tools where tool != "folds" || OraclePython.path != nil {
            var arguments = Self.proofs[tool] ?? []
            if ["memory", "campaign"].contains(tool) { arguments += ["--program", try BuiltProgram.url().path] }
            let run = try FinishedProcess(
                PackageRoot.url.appendingPathComponent("Tools/\(tool)"), arguments,
                adding: [
                    "MESHLEDGER_DAMAGELAB": try BuiltProgram.url("damagelab").path,
                    "MESHLEDGER_QUERYLAB": try BuiltProgram.url("querylab").path,
                    "MESHLEDGER_PROGRAM": try BuiltProgram.url().path,
                ],
                in: PackageRoot.url)
            #expect(run.status == 0, "\(tool): \(run.text)")
        }
    }

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
        let run = try FinishedProcess(URL(fileURLWithPath: "/bin/bash"), ["-c", script], in: folder.url)
        #expect(run.status == 0, "\(run.text)")
        for file in ["events.jsonl", "track.gpx", "positions.geojson", "device.csv"] {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(file).path)[.size] as? Int
            #expect((size ?? 0) > 300, "\(file)")
        }
    }

    @Test func `what the README shows of the command is what it prints`() throws {
        let readme = try String(contentsOf: PackageRoot.url.appendingPathComponent("README.md"), encoding: .utf8)
        let shown = try #require(readme.components(separatedBy: "```\n$ ").dropFirst().first?.components(separatedBy: "```")[0])
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url()
        let environment = ["MESHLEDGER": folder.path + "/mesh.ledger"]
        #expect(try FinishedProcess(program, ["init"], adding: environment).status == 0)
        var printed = ""
        for line in "$ \(shown)".split(separator: "\n") where line.hasPrefix("$ meshledger ") {
            let run = try FinishedProcess(program, line.split(separator: " ").dropFirst(2).map(String.init), adding: environment)
            printed += line + "\n" + run.text
        }
        #expect(printed == "$ \(shown)")
    }
}
