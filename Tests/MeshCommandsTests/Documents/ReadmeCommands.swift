import Foundation
import TestKit
import Testing

struct ReadmeCommands {
    /// The tools of which the article on proofs says what they prove, and how a small share of each is run.
    private static let proofs = [
        "model": ["steps=100", "length=100"], "tamper": ["count=2"], "crash-images": ["scenarios=1", "images=20", "appends=3"],
        "failing-calls": ["runs=2"], "kill9": ["kills=2"], "bitrot": ["bits=4", "bytes=65536", "reports=0"],
        "read-ledger": ["--checkpoint", "Tests/Fixtures/format-2/mesh.ledger"], "memory": ["--events", "20000"],
        "queries": ["200"], "sql": ["100"], "campaign": ["--seconds", "4", "--part", "making"], "histories": ["count=2"],
        "folds": ["count=2"], "lake": ["kills=1"], "live": ["--kills", "1", "--minutes", "0.2"],
        "changes": ["--check"],
    ]

    @Test(.timeLimit(.minutes(40)))
    func `every tool that the article says proves the log runs`() throws {
        let section = try #require(try Document.named("Proofs").section("How it is proved"))
        let tools = section.split(separator: "\n").filter { $0.hasPrefix("| `Tools/") }
            .map { String($0.dropFirst("| `Tools/".count).prefix { $0 != "`" }).replacing("prove ", with: "") }
        #expect(tools.sorted() == Self.proofs.keys.sorted())
        // Without the official decoder, which IndependentFold is skipped without, there is no other fold.
        for tool in tools
        where (tool != "folds" || OraclePython.path != nil) && (tool != "lake" || LakePython.path != nil)
            && (tool != "live" || OraclePython.path != nil && getuid() == 0)
        {
            var arguments = Self.proofs[tool] ?? []
            if ["memory", "campaign", "live"].contains(tool) { arguments += ["--program", try BuiltProgram.url().path] }
            let script = PackageRoot.url.appendingPathComponent(tool == "read-ledger" ? "Tools/read-ledger" : "Tools/prove")
            if tool != "read-ledger" { arguments.insert(tool, at: 0) }
            let run = try FinishedProcess(
                script, arguments,
                adding: [
                    "MESHLEDGER_DAMAGELAB": try BuiltProgram.tested("damagelab").path,
                    "MESHLEDGER_QUERYLAB": try BuiltProgram.tested("querylab").path,
                    "MESHLEDGER_PROGRAM": try BuiltProgram.url().path, "MESHLEDGER_LAKE_PYTHON": LakePython.path ?? "",
                ],
                in: PackageRoot.url)
            #expect(run.status == 0, "\(tool): \(run.text)")
        }
    }

    /// A ledger with something in it.
    private static let filled = [
        "export MESHLEDGER=$PWD/mesh.ledger", "meshledger init", "meshledger simulate --seed 1 --nodes 20 --packets 500",
    ]
    /// The documents with commands, and what was done before the first of them, in a new folder.
    private static let prepared = [
        "README": [], "ForOperators": [], "YourFirstView": filled, "AskingThePast": filled, "Proofs": filled,
        "Performance": filled, "SQL": filled, "Analytics": filled,
        "Recipes": filled,
    ]
    /// The files that their commands leave there, each of more than 300 bytes.
    private static let written = [
        "README": ["capture.base64", "track.gpx"],
        "ForOperators": ["events.jsonl", "track.gpx", "positions.geojson", "device.csv"], "Proofs": ["event.proof"],
        "Analytics": ["positions.arrow", "positions.parquet"],
    ]
    /// That line needs a broker: IngestCommandTests runs it.
    private static let online = "meshledger ingest mqtt mqtt://localhost"

    /// The lines of all `sh` blocks of a document, in order.
    private static func commands(_ document: Document) -> [String] {
        document.blocks(in: "sh").flatMap { $0.text.split(separator: "\n").map(String.init) }
    }

    @Test func `it is said of every document with commands what they need`() throws {
        let documents = try Document.all().filter { !$0.blocks(in: "sh").isEmpty }
        #expect(documents.map(\.name).sorted() == Self.prepared.keys.sorted())
        let all = documents.flatMap(Self.commands)
        #expect(all.count > 70)
        #expect(all.contains(Self.online) && all.allSatisfy { $0 == Self.online || !$0.contains("ingest mqtt") })
    }

    @Test(.timeLimit(.minutes(20)), arguments: prepared.keys.sorted())
    func `every command of a document runs in a new folder, in the order in which it stands there`(_ name: String) throws {
        let folder = try TemporaryFolder()
        let program = try BuiltProgram.url()
        let lines = Self.commands(try Document.named(name)).filter { $0 != Self.online }
        #expect(!lines.isEmpty)
        let script =
            "set -euo pipefail\nPATH=\(program.deletingLastPathComponent().path):$PATH\n"
            + ((Self.prepared[name] ?? []) + lines).joined(separator: "\n")
        let run = try FinishedProcess(URL(fileURLWithPath: "/bin/bash"), ["-c", script], in: folder.url)
        #expect(run.status == 0, "\(run.text)")
        for file in Self.written[name] ?? [] {
            let size = try FileManager.default.attributesOfItem(atPath: folder.file(file).path)[.size] as? Int
            #expect((size ?? 0) > 300, "\(file)")
        }
    }

    /// Blocks that show commands after `$ ` with what they print, each in a new ledger.
    @Test func `what the documents show of the command is what it prints`() throws {
        let blocks = try Document.all().flatMap { $0.blocks(in: "").filter { $0.text.hasPrefix("$ ") } }
        #expect(blocks.contains { $0.document == "README" })
        let program = try BuiltProgram.url()
        for block in blocks {
            let folder = try TemporaryFolder()
            let environment = ["MESHLEDGER": folder.path + "/mesh.ledger"]
            if !block.text.contains("$ meshledger init\n") {
                #expect(try FinishedProcess(program, ["init"], adding: environment).status == 0)
            }
            var printed = ""
            for line in block.text.split(separator: "\n") where line.hasPrefix("$ meshledger ") {
                let arguments = line.split(separator: " ").dropFirst(2).map(String.init)
                let run = try FinishedProcess(program, arguments, adding: environment)
                printed += line + "\n" + run.text.replacing(folder.path, with: "/srv")
            }
            #expect(printed == block.text, "\(block)")
        }
    }
}
