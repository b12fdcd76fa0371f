import Foundation
import TestKit
import Testing

@testable import MeshCommands

/// What the operator sees of a damaged ledger.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct DamageTests {
    private func simulated() throws -> (tool: Tool, file: URL) {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--packets", "3000", "--seed", "7")
        return (tool, URL(fileURLWithPath: tool.ledger + "/log/1/data.mdb"))
    }

    /// Zeroes the pages of the file that hold what no ordinary opening looks at, one after the other, until reading it crashes.
    private func crashing(_ file: URL, _ tool: Tool) throws -> Tool.Outcome? {
        let whole = try Data(contentsOf: file)
        for page in stride(from: 20, to: whole.count / 4096 - 60, by: 7) {
            var bytes = whole
            bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
            try bytes.write(to: file)
            let outcome = try tool.run("verify")
            if outcome.errors.contains("crashed") { return outcome }
        }
        return nil
    }

    @Test func `D10: verify outlives a file that crashes the store, names what is lost and says what to do`() throws {
        let (tool, file) = try simulated()
        let outcome = try #require(try crashing(file, tool))
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("the log is damaged"))
        #expect(outcome.errors.contains(" cannot be saved\n"))
        #expect(outcome.errors.contains("meshledger salvage"))
        #expect(!outcome.errors.contains("Backtrace") && !outcome.errors.contains("Fatal error"))
        #expect(outcome.output.contains("are lost"))

        let new = tool.folder.file("new.ledger").path
        let salvage = try tool.run("salvage", tool.ledger, new)
        #expect(salvage.status == 1)
        #expect(salvage.errors.contains(" cannot be saved\n"))
        #expect(try tool.run("verify", "--ledger", new).status == 0)
        #expect(try tool.run("nodes", "--ledger", new).status == 0)
        let gaps = try tool.run("export", "events", "--format", "jsonl", "--ledger", new).objects.filter {
            $0["encoding"] as? String == "gap"
        }
        #expect((1...100).contains(gaps.count))
    }

    @Test func `verify stops a check that makes no progress`() throws {
        let (tool, _) = try simulated()
        let outcome = try tool.run("verify", environment: ["MESHLEDGER_PATIENCE": "0"])
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("did not come to an end"))
    }

    @Test(arguments: ["", "junk", "../../log", "v1-0123456789abcdef"])
    func `a view whose recipe is not to be read is rebuilt by the next reader`(text: String) throws {
        let (tool, _) = try simulated()
        let before = try tool.run("nodes", "--format", "jsonl").output
        try Data(text.utf8).write(to: URL(fileURLWithPath: tool.ledger + "/views/nodes/current"))
        let after = try tool.run("nodes", "--format", "jsonl")
        #expect(after.status == 0 && after.output == before, "\(after.errors)")
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `a damaged file beside the log is reported with what to do about it`() throws {
        let (tool, _) = try simulated()
        #expect(try tool.run("follow", "--consumer", "a", "--no-follow").status == 0)
        try Data("junk".utf8).write(to: URL(fileURLWithPath: tool.ledger + "/consumers/a"))
        let stats = try tool.run("stats")
        #expect(
            stats.status == 65 && stats.errors.contains("consumers/a")
                && stats.errors.contains("meshledger follow consumers remove"))
        #expect(try tool.run("consumers", "remove", "a").status == 0 && tool.run("stats").status == 0)
        for text in ["junk", nil] {
            try FileManager.default.removeItem(atPath: tool.ledger + "/signing.key")
            if let text { try Data(text.utf8).write(to: URL(fileURLWithPath: tool.ledger + "/signing.key")) }
            let note = try tool.run("checkpoint")
            #expect(
                note.status == 65 && note.errors.contains("the signing key") && !note.errors.contains("salvage"), "\(note)")
        }
    }

    @Test func `keys that cannot be read are reported by verify, which checks the rest all the same`() throws {
        let (tool, _) = try simulated()
        try tool.run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        #expect(try tool.run("verify").status == 0)
        try Data("junk".utf8).write(to: URL(fileURLWithPath: tool.ledger + "/keys.json"))
        let verify = try tool.run("verify")
        #expect(verify.status == 1 && verify.output.contains(" 0 damaged"), "\(verify)")
        #expect(verify.errors.contains("keys.json cannot be read") && verify.errors.contains("checked without keys"), "\(verify)")
        // The check of the views is not left out: these have seen more than the log holds.
        let other = try Tool()
        try other.run("init")
        try FileManager.default.removeItem(atPath: tool.ledger + "/log")
        try FileManager.default.copyItem(atPath: other.ledger + "/log", toPath: tool.ledger + "/log")
        #expect(try tool.run("verify").errors.contains("has seen events that the log does not hold"))
    }

    @Test func `a salvaged ledger exports what the whole one did, with its keys`() throws {
        let (tool, file) = try simulated()
        try tool.run("keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        let before = try tool.run("export", "events", "--format", "jsonl").output
        let nodes = try tool.run("nodes", "--format", "jsonl").output
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<8192, with: Data(repeating: 0xff, count: 8192))
        try bytes.write(to: file)
        let refused = try tool.run("events")
        #expect(refused.status == 65)
        #expect(refused.errors.contains("meta page") && refused.errors.contains("meshledger salvage"))
        let verify = try tool.run("verify")
        #expect(verify.status == 1)

        let new = tool.folder.file("new.ledger").path
        let salvage = try tool.run("salvage", tool.ledger, new)
        #expect(salvage.status == 1)
        #expect(salvage.errors.contains("may be missing behind the last"))
        #expect(salvage.output.contains("3,000 events"))
        #expect(try tool.run("export", "events", "--format", "jsonl", "--ledger", new).output == before)
        #expect(try tool.run("nodes", "--format", "jsonl", "--ledger", new).output == nodes)
        #expect(try tool.run("keys", "list", "--ledger", new).output.contains("Harbour"))
        #expect(try tool.run("salvage", tool.ledger, new).status == 73)
        #expect(try tool.run("salvage", tool.folder.file("none").path, new).status == 66)
    }

    @Test func `a salvaged ledger has its name only when all its files are copied`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        try FileManager.default.createDirectory(atPath: tool.ledger + "/consumers", withIntermediateDirectories: true)
        let large = URL(fileURLWithPath: tool.ledger + "/consumers/large")
        try Data(count: 64 << 20).write(to: large)
        #expect(try tool.run("storage", "limit", "1GB").status == 0)
        let new = tool.folder.file("new.ledger").path
        let salvage = try tool.start(["salvage", tool.ledger, new])
        while salvage.process.isRunning, !FileManager.default.fileExists(atPath: new) { usleep(500) }
        #expect(FileManager.default.fileExists(atPath: new + "/limit"))
        #expect(try salvage.wait().status == 0)
    }

    @Test func `a damaged view is distinguished from a damaged log and rebuilt by the next reader`() throws {
        let (tool, _) = try simulated()
        let before = try tool.run("positions", "--format", "jsonl").output
        let folder = tool.ledger + "/views/positions"
        let recipe = try #require(FileManager.default.contentsOfDirectory(atPath: folder).first { $0 != "current" })
        let file = URL(fileURLWithPath: "\(folder)/\(recipe)/data.mdb")
        var bytes = try Data(contentsOf: file)
        bytes.replaceSubrange(0..<8192, with: Data(repeating: 0xff, count: 8192))
        try bytes.write(to: file)
        let verify = try tool.run("verify")
        #expect(verify.status == 1)
        #expect(verify.errors.contains("no event is damaged") && verify.errors.contains("meshledger view rebuild"))
        #expect(verify.output.contains("3,000 events") && !verify.output.contains("lost"))
        let after = try tool.run("positions", "--format", "jsonl")
        #expect(after.status == 0 && after.output == before)
        #expect(try tool.run("verify").status == 0)
    }
}
