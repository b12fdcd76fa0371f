import Foundation
import TestKit
import Testing

/// Rows of any view are archived, restored and related on the command line.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct RowCommands {
    private func tool() throws -> Tool {
        try Tool(holding: [
            Line.node(0x11, long: "Harbour", short: "H1"), Line.node(0x12, long: "Lighthouse", short: "L1"),
            Line.position(0x11, latitudeE7: 475_000_000, longitudeE7: 90_000_000, time: 1_760_000_005),
            Line.position(0x11, latitudeE7: 475_000_100, longitudeE7: 90_000_000, time: 1_760_000_006),
            Line.text("hello emergency", from: 0x12),
        ])
    }

    @Test func `S14 K8: rows are archived with what is kept of them and with related ones, listed, undone and restored`() throws {
        let tool = try tool()
        let one = try tool.run(
            "row", "archive", "positions", "--where", "time=2025-10-09T08:53:25Z", "--keep", "latitude,longitude")
        #expect(one.status == 0 && one.output.contains("1 row of positions: archived"), "\(one)")
        #expect(try tool.run("positions", "--format", "jsonl").lines.count == 1)
        #expect(try tool.run("view", "positions", "--archived", "--format", "jsonl").lines.count == 2)
        let kept = try #require(try tool.run("view", "archived", "--format", "jsonl").objects.first)
        #expect(kept["table"] as? String == "positions" && (kept["kept"] as? String)?.contains("47.5") == true, "\(kept)")
        let event = try #require(one.output.split(separator: " ").dropFirst().first.map { String($0.dropLast()) })
        #expect(try tool.run("revert", event).status == 0)
        #expect(try tool.run("positions", "--format", "jsonl").lines.count == 2)

        let denied = try tool.run("row", "archive", "nodes", "--where", "number=!11", "--deny", "positions")
        #expect(denied.status != 0 && denied.errors.contains("2 rows of positions"), "\(denied)")
        let both = try tool.run("row", "archive", "nodes", "--where", "number=!11", "--cascade", "positions")
        #expect(both.status == 0 && both.output.contains("2 rows of positions"), "\(both)")
        #expect(
            try tool.run("nodes", "--format", "jsonl").lines.count == 1
                && tool.run("positions", "--format", "jsonl").output.isEmpty)
        #expect(try tool.run("row", "restore", "positions", "--all").status == 0)
        #expect(try tool.run("positions", "--format", "jsonl").lines.count == 2)
        #expect(try tool.run("row", "restore", "positions", "--all").output.contains("no such rows"))
        for wrong in [
            ["row", "archive", "positions"], ["row", "archive", "positions", "--all", "--where", "time>0"],
            ["row", "archive", "nodes", "--all", "--cascade", "nothing"],
            ["row", "archive", "positions", "--all", "--keep", "nothing"],
            ["row", "archive", "nodes", "--all", "--keep", "longName"],
        ] {
            #expect(try tool.start(wrong).wait().status == 64, "\(wrong)")
        }
        #expect(try tool.run("row", "archive", "nowhere", "--all").status == 66)
    }

    @Test func `G22 W12 G11: rows refer to others, are asked for by relations, and found by misspelt words`() throws {
        let tool = try tool()
        func refer(_ more: String...) throws -> String {
            let outcome = try tool.start(
                ["row", "refer", "nodes", "--where", "number=!11", "--relation", "watches", "--to", "nodes"] + more
            ).wait()
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.output
        }
        #expect(try refer("--to-where", "number=!12").contains("watches are 1 row of nodes"))
        #expect(try tool.run("view", "references", "--format", "jsonl").objects.map { $0["relation"] as? String } == ["watches"])
        #expect(try refer("--detach").contains("watches: all taken away"))
        #expect(try tool.run("view", "references", "--format", "jsonl").output.isEmpty)
        func nodes(_ arguments: String...) throws -> [String?] {
            let outcome = try tool.start(["view", "nodes", "--format", "jsonl"] + arguments).wait()
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.objects.map { $0["short_name"] as? String }
        }
        #expect(try nodes("--having", "positions") == ["H1"] && nodes("--lacking", "positions") == ["L1"])
        #expect(try nodes("--having", "positions>=2") == ["H1"] && nodes("--having", "positions>2").isEmpty)
        #expect(try nodes("--having", "sentMessages=0") == ["H1"])
        #expect(try nodes("--having", "positions >= 2") == ["H1"] && nodes("--having", "positions!=0") == ["H1"])
        #expect(try tool.run("view", "nodes", "--having", "nothing").status == 64)
        for wrong in ["positions!=1", "positions<0", "positions>=", ">=3", "positions=many", "positions==1"] {
            let refused = try tool.run("view", "nodes", "--having", wrong)
            #expect(refused.status == 64 && refused.errors.contains("such as positions>=5"), "\(wrong): \(refused)")
        }
        #expect(try tool.run("search", "--fuzzy", "emergancy", "--format", "jsonl").lines.count == 1)
        #expect(try tool.run("search", "emergancy", "--format", "jsonl").output.isEmpty)
        #expect(try tool.run("search", "--in", "nodes", "h1", "--format", "jsonl").lines.count == 1)
        #expect(try tool.run("search", "--in", "waypoints", "hut").status == 0)
    }

    @Test func `G22 K8: relations that people made choose rows, and decide what is archived with them`() throws {
        let tool = try tool()
        for (relation, view, condition) in [
            ("watches", "nodes", "number=!12"), ("follows", "nodes", "number=!12"), ("follows", "positions", "node=!11"),
        ] {
            try tool.run(
                "row", "refer", "nodes", "--where", "number=!11", "--relation", relation, "--to", view, "--to-where", condition,
                "--add")
        }
        func nodes(_ arguments: String...) throws -> [String?] {
            let outcome = try tool.start(["view", "nodes", "--format", "jsonl"] + arguments).wait()
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.objects.map { $0["short_name"] as? String }
        }
        #expect(try nodes("--having", "watches") == ["H1"] && nodes("--lacking", "watches") == ["L1"])
        #expect(try nodes("--having", "watches>1").isEmpty && nodes("--having", "watches=1") == ["H1"])
        let unknown = try tool.run("view", "nodes", "--having", "guards")
        #expect(unknown.status == 64 && unknown.errors.contains("receivedMessages, follows, watches"), "\(unknown)")
        let several = try tool.run("view", "nodes", "--having", "follows")
        #expect(several.status == 64 && several.errors.contains("rows of nodes and positions"), "\(several)")

        let archive = ["row", "archive", "nodes", "--where", "number=!11"]
        let denied = try tool.start(archive + ["--deny", "watches"]).wait()
        #expect(denied.status != 0 && denied.errors.contains("1 row of nodes is related by watches"), "\(denied)")
        let both = try tool.start(archive + ["--cascade", "follows", "--nullify", "watches"]).wait()
        #expect(both.status == 0 && both.output.contains("2 rows of positions: archived"), "\(both)")
        #expect(try nodes().isEmpty)
        let left = try tool.run("view", "references", "--format", "jsonl").objects.compactMap { $0["relation"] as? String }
        #expect(!left.isEmpty && Set(left) == ["follows"])
    }
}
