import Foundation
import TestKit
import Testing

/// What `export` refuses, since it would write more than was asked for, and what it has of the lists' columns.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct ExportRefusals {
    private func filled() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "800")
        return tool
    }

    @Test func `an option that would leave the rows as they are is refused`() throws {
        let tool = try filled()
        for (command, part) in [
            ("events --channel LongFast", "--where 'channel=…'"), ("positions --channel LongFast", "not for positions"),
            ("all --channel LongFast -o all", "not for all"), ("links --channel LongFast", "--channel is for nodes, messages"),
            ("nodes --kind device", "--kind is for telemetry"), ("channels --node !1", "are not chosen by node"),
            ("packet_events --node !1", "are not chosen by node"), ("packets --archived", "cannot be archived"),
            ("positions --by arrival", "--by is for"),
        ] {
            let refused = try tool.start(["export"] + command.split(separator: " ").map(String.init)).wait()
            #expect(refused.status == 64 && refused.output.isEmpty && refused.errors.contains(part), "\(command): \(refused)")
        }
        let chosen = try tool.run("export", "events", "--where", "channel=LongFast").lines.count
        let listed = try tool.run("events", "--channel", "LongFast", "--format", "jsonl").lines.count
        #expect(chosen == listed && chosen > 0)
    }

    @Test func `everything of one node has no rows of others`() throws {
        let tool = try filled()
        let node = try #require(try tool.run("nodes", "--format", "jsonl").objects.first?["node"] as? String)
        let folder = tool.folder.file("all")
        #expect(try tool.run("export", "all", "--node", node, "-o", folder.path).status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("positions.jsonl") && !names.contains("channels.jsonl") && !names.contains("packet_events.jsonl"))
    }

    @Test func `exports and views have the columns of lists that other rows give`() throws {
        let tool = try filled()
        for (view, list, columns) in [
            ("positions", "positions", "node,name,time"), ("nodes", "nodes", "node,battery_level,latitude,position_time"),
            ("messages", "messages", "text,hops"), ("packets", "packets", "id,snr,rssi,hops_away"),
        ] {
            let listed = try tool.run(list, "--columns", columns, "--format", "jsonl").lines.sorted()
            let exported = try tool.run("export", view, "--columns", columns, "--format", "jsonl").lines.sorted()
            #expect(listed == exported && !listed.isEmpty, "\(view)")
            guard view != "packets" else { continue }
            #expect(try tool.run("view", view, "--columns", columns, "--format", "jsonl").lines.sorted() == listed, "\(view)")
        }
    }

    @Test func `no output is written into a ledger's folder`() throws {
        let tool = try filled()
        let before = try Data(contentsOf: URL(filePath: tool.ledger + "/log/current"))
        let link = tool.folder.file("link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: tool.ledger + "/views")
        for place in ["/log/current", "/log/1/data.mdb", "/new.csv", "/views/../log/new"] {
            let refused = try tool.run("nodes", "-o", tool.ledger + place)
            #expect(refused.status == 64 && refused.errors.contains("in the folder of a ledger"), "\(place): \(refused)")
        }
        #expect(try tool.run("export", "nodes", "-o", link + "/nodes.jsonl").status == 64)
        #expect(try tool.run("export", "all", "-o", tool.ledger + "/all/of/it").status == 64)
        #expect(!FileManager.default.fileExists(atPath: tool.ledger + "/all"))
        #expect(try Data(contentsOf: URL(filePath: tool.ledger + "/log/current")) == before)
        #expect(try tool.run("nodes").status == 0)
    }

    @Test func `a condition that is not one says why, and == is =`() throws {
        let tool = try filled()
        for (condition, part) in [
            ("role=>ROUTER", "=> is no comparison"), ("role", "there is no comparison"), ("=ROUTER", "there is no column"),
            ("role!ROUTER", "!R is no comparison"),
        ] {
            let refused = try tool.run("nodes", "--where", condition)
            #expect(refused.status == 64 && refused.errors.contains(part), "\(condition): \(refused)")
        }
        let misspelt = try tool.run("export", "nodes", "--columns", "node,short_nam")
        #expect(misspelt.status == 64 && misspelt.errors.contains("did you mean short_name? There are"), "\(misspelt)")
        let rows = try tool.run("nodes", "--where", "role==client", "--format", "jsonl").lines
        #expect(try tool.run("nodes", "--where", "role=CLIENT", "--format", "jsonl").lines == rows && !rows.isEmpty)
    }
}
