import Foundation
import TestKit
import Testing

/// A size limit that the ledger keeps, and what `stats` says of the process that writes.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .serialized, .timeLimit(.minutes(40)))
struct SizeLimitCommands {
    private func facts(_ tool: Tool) throws -> [String: Any] {
        let outcome = try tool.run("stats", "--format", "json")
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try #require(outcome.objects.first)
    }

    private func capture(_ tool: Tool, _ packets: Int) throws -> String {
        let path = tool.folder.file("capture.base64").path
        let outcome = try tool.run("simulate", "--nodes", "30", "--packets", "\(packets)", "--to", path, "--as", "envelopes")
        #expect(outcome.status == 0)
        return path
    }

    @Test func `a limit that is kept in the ledger stops an import with one line, and a higher one lets it go on`() throws {
        let tool = try Tool()
        let file = try capture(tool, 20_000)
        #expect(try tool.run("init").status == 0)
        #expect(try tool.run("limit").output.contains("no size limit"))
        #expect(try tool.run("limit", "2MB").lines == ["log and views may take 2,000,000 bytes"])
        #expect(try tool.run("limit", "5B").output.contains("already"))
        #expect(try tool.run("limit", "5").status == 64, "the unit was forgotten")
        #expect(try tool.run("limit", "2MB").status == 0)
        let full = try tool.run("import", file)
        #expect(full.status == 74, "\(full.errors)")
        #expect(full.errors.filter(\.isNewline).count == 1, "\(full.errors)")
        #expect(full.errors.contains("the limit is 2000000 bytes"), "\(full.errors)")
        let atLimit = try facts(tool)
        #expect(atLimit["size_limit_bytes"] as? Int == 2_000_000)
        #expect(atLimit["limit_reached_in_days"] as? Int == nil, "nothing came in live")
        #expect(try tool.run("retain", "--larger-than", "100kB", "--yes").status == 0, "what makes room is done at the limit")
        let last = try #require(facts(tool)["events"] as? Int) - 10
        let erasure = try tool.run("erase", "--sequence", "\(last)", "--yes")
        #expect(erasure.status == 0, "\(erasure.errors)")
        #expect(try tool.run("limit", "--off").status == 0)
        let again = try tool.run("import", file)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try facts(tool)["events"] as? Int ?? 0 > 20_000)
        #expect(try tool.run("verify").status == 0)
        #expect(try tool.run("limit", "0").status == 64)
    }

    @Test func `the views count as they will be when they have stored everything`() throws {
        let tool = try Tool()
        let file = try capture(tool, 60_000)
        #expect(try tool.run("init").status == 0)
        #expect(try tool.run("limit", "16MB").status == 0)
        let full = try tool.run("import", file)
        #expect(full.status == 74, "\(full.errors)")
        let facts = try facts(tool)
        let bytes = try ["log_bytes", "views_bytes"].map { try #require(facts[$0] as? Int) }.reduce(0, +)
        // An import stores up to 16,384 events at once, whose rows come on top.
        #expect((8_000_000...27_000_000).contains(bytes), "\(bytes)")
    }

    @Test func `M8: a writer that meets the limit is degraded, says so in stats, and takes a new limit up while it runs`() throws
    {
        let tool = try Tool()
        let file = try capture(tool, 20_000)
        #expect(try tool.run("init").status == 0)
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { writer.process.terminate() }
        try writer.wait(for: "trying again")
        #expect(try tool.run("limit", "2MB").status == 0)
        var outcome: Tool.Outcome
        var degraded: [String: Any] = [:]
        var rounds = 0
        repeat {
            outcome = try tool.run("import", file)
            degraded = try facts(tool)
            rounds += 1
            // Taken up after the whole file was stored: the next one cannot be.
            if outcome.status == 0 {
                let made = try tool.run(
                    "simulate", "--seed", "\(rounds + 50)", "--nodes", "30", "--packets", "20000", "--to", file, "--as",
                    "envelopes")
                #expect(made.status == 0, "\(made.errors)")
            }
            // Sealing may have made room after the import failed: then the writer can store again, until the next import.
        } while outcome.status == 0 || outcome.status == 74 && degraded["degraded"] as? Bool != true
        #expect(outcome.status == 74, "\(outcome.errors)")
        #expect(outcome.errors.contains("the limit is 2000000 bytes"), "\(outcome.errors)")
        #expect(try #require(degraded["failed_commits"] as? Int) > 0)
        #expect((degraded["last_failed_commit"] as? String)?.contains("size limit") == true)
        #expect(degraded["limit_reached_in_days"] as? Int == nil, "nothing came in live")
        #expect(try tool.run("limit", "--off").status == 0)
        repeat { outcome = try tool.run("import", file) } while outcome.status != 0
        #expect(try facts(tool)["degraded"] as? Bool == false)
        writer.process.interrupt()
        #expect(try writer.wait().status == 0)
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `stats names a process that was stopped while it read, and for how long, until it is killed`() throws {
        let tool = try Tool()
        let file = try capture(tool, 2_000)
        #expect(try tool.run("init").status == 0)
        let writer = try tool.start(["ingest", "mqtt", "mqtt://127.0.0.1:1"])
        defer { writer.process.terminate() }
        try writer.wait(for: "trying again")
        let signal = tool.folder.file("reading").path
        let process = try Process.start(BuiltProgram.url("crashchild"), ["read", tool.ledger, signal]).processIdentifier
        try waitUntil { FileManager.default.fileExists(atPath: signal) }
        kill(process, SIGSTOP)
        #expect(try tool.run("import", file).status == 0)
        var named: [String: Any] = [:]
        repeat { named = try facts(tool) } while named["reader_\(process)_blocking_seconds"] == nil
        #expect(try #require(named["reader_\(process)_blocking_seconds"] as? Int) >= 1)
        #expect(try #require(named["reader_\(process)_commits_behind"] as? Int) >= 1)
        #expect(named["writer"] as? Int == Int(writer.process.processIdentifier))
        #expect(named["degraded"] as? Bool == false && named["failed_commits"] as? Int == 0)
        kill(process, SIGKILL)
        repeat { named = try facts(tool) } while named["reader_\(process)_blocking_seconds"] != nil
    }
}
