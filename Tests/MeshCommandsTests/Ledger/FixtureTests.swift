import Foundation
import TestKit
import Testing

/// Ledgers of earlier formats, made by `Tools/generate/fixture`: every later version opens them or says why not.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct FixtureTests {
    static let folder = PackageRoot.url.appendingPathComponent("Tests/Fixtures")
    static let formats = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted().filter {
        FileManager.default.fileExists(atPath: "\(folder.path)/\($0)/mesh.ledger")
    }

    @Test func `D11: there is a fixture of this version's format`() throws {
        let tool = try Tool()
        try tool.run("init")
        let current = try String(contentsOfFile: tool.ledger + "/log/current", encoding: .utf8)
        let format = try #require(current.split(separator: "\n").first).replacingOccurrences(of: " ", with: "-")
        #expect(Self.formats.contains(format))
    }

    @Test(arguments: formats) func `D11: a ledger of each format is read, proved, folded, appended to and salvaged`(
        format: String
    )
        throws
    {
        let fixture = Self.folder.appendingPathComponent(format)
        let tool = try Tool()
        try FileManager.default.copyItem(atPath: fixture.path + "/mesh.ledger", toPath: tool.ledger)
        let note = fixture.appendingPathComponent("checkpoint.note").path
        let key = fixture.appendingPathComponent("ledger.key").path
        let verify = try tool.run("verify", "--checkpoint", note, "--key", key)
        #expect(verify.status == 0, "\(verify.errors)")
        #expect(verify.output.contains("850 events") && verify.output.contains("extends the checkpoint of 850 events"))

        let events = tool.folder.file("events.jsonl").path
        let export = try tool.run("export", "events", "--format", "jsonl")
        #expect(export.status == 0)
        try Data(export.output.utf8).write(to: URL(fileURLWithPath: events))
        let digest = try String(contentsOf: fixture.appendingPathComponent("events.sha256"), encoding: .utf8)
        #expect(try sha256(of: events) == digest.trimmingCharacters(in: .whitespacesAndNewlines))
        #expect(try tool.run("nodes", "--format", "jsonl").lines.count > 30)
        #expect(try tool.run("salvage", "--dry-run", tool.ledger).status == 0)

        #expect(try tool.run("simulate", "--packets", "20", "--seed", "3").status == 0)
        #expect(try tool.run("verify", "--checkpoint", note, "--key", key).status == 0)
    }

    private func sha256(of path: String) throws -> String {
        String(try Program.run(URL(fileURLWithPath: "/usr/bin/sha256sum"), [path]).prefix(64))
    }
}
