import Foundation
import TestKit
import Testing

/// `diff`, against what the lists of both sides have.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct DiffTests {
    private typealias Row = [String: Any]

    private func rows(_ tool: Tool, _ arguments: [String]) throws -> [Row] {
        let outcome = try tool.start(arguments + ["--format", "jsonl"]).wait()
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.objects
    }

    private func text(_ row: Row, _ columns: [String]) -> String { columns.map { "\(row[$0] ?? "")" }.joined(separator: " ") }

    /// The same traffic in two ledgers, in the second of which other traffic came before.
    private func pair() throws -> (one: Tool, other: Tool) {
        let (one, other) = (try Tool(), try Tool())
        try one.run("init")
        try other.run("init")
        try other.run("simulate", "--seed", "9", "--nodes", "5", "--packets", "120", "--start", "2026-05-20T00:00:00Z")
        for tool in [one, other] { try tool.run("simulate", "--seed", "1", "--nodes", "20", "--packets", "600") }
        return (one, other)
    }

    @Test func `two ledgers differ by the rows that only one of them has, in whatever order their events came`() throws {
        let (one, other) = try pair()
        let found = try rows(one, ["diff", one.ledger, other.ledger])
        let back = try rows(one, ["diff", other.ledger, one.ledger])
        for (view, list, key) in [
            ("nodes", ["nodes"], ["node"]), ("positions", ["positions"], ["node", "time", "packet_id"]),
            ("telemetry", ["telemetry"], ["node", "time", "packet_id"]), ("messages", ["messages"], ["from", "id", "time"]),
            ("links", ["links"], ["hearer", "heard"]), ("nodehistory", ["nodes", "history"], ["node", "time"]),
        ] {
            let sides = try [one, other].map { try Set(rows($0, list).map { text($0, key) }) }
            let counts = found.first { $0["view"] as? String == view }
            #expect(counts?["added"] as? Int ?? 0 == sides[1].subtracting(sides[0]).count, "\(view): \(found)")
            #expect(counts?["removed"] as? Int ?? 0 == 0 && counts?["changed"] as? Int ?? 0 == 0, "\(view): \(found)")
            let reverse = back.first { $0["view"] as? String == view }
            #expect(reverse?["removed"] as? Int == counts?["added"] as? Int && reverse?["added"] as? Int ?? 0 == 0, "\(view)")
            #expect(
                try rows(one, ["diff", one.ledger, other.ledger, "--view", view, "--rows"]).count == counts?["added"] as? Int ?? 0
            )
        }
        #expect(found.first { $0["view"] as? String == "messages" } != nil)
    }

    @Test func `two moments differ by the rows and columns that changed between them`() throws {
        let tool = try pair().one
        let moments = ["200", "450"]
        let found = try #require(try rows(tool, ["diff", "--as-of", moments[0], "--as-of", moments[1], "--view", "nodes"]).first)
        let sides = try moments.map { moment in
            Dictionary(uniqueKeysWithValues: try rows(tool, ["nodes", "--as-of", moment]).map { (text($0, ["node"]), $0) })
        }
        #expect(found["added"] as? Int == Set(sides[1].keys).subtracting(sides[0].keys).count)
        let columns = try #require(found["columns"] as? [String: Int])
        for column in ["packets", "receptions", "last_heard", "long_name", "hops_away"] {
            let changed = sides[0].filter { text($0.value, [column]) != text(sides[1][$0.key] ?? [:], [column]) }
            #expect(columns[column] ?? 0 == changed.count, "\(column)")
        }
        #expect((columns["packets"] ?? 0) > 3 && columns.keys.allSatisfy { !$0.hasSuffix("sequence") })
        let details = try rows(tool, ["diff", "--as-of", moments[0], "--as-of", moments[1], "--view", "nodes", "--rows"])
        #expect(details.count { $0["change"] as? String == "~" } == found["changed"] as? Int)
        let now = try tool.run("diff", "--as-of", "600")
        #expect(now.status == 0 && now.output.isEmpty && now.errors.contains("no differences"))
    }

    @Test func `rows that differ come in the same order each time`() throws {
        let tool = try pair().one
        let asked = ["diff", "--as-of", "20", "--as-of", "600", "--view", "messages", "--rows", "--format", "jsonl"]
        let answers = try (0..<3).map { _ in try tool.start(asked).wait().output }
        #expect(answers[0].split(separator: "\n").count > 5 && Set(answers).count == 1)
    }

    @Test func `what is compared must be two ledgers, or one or two moments`() throws {
        let tool = try Tool()
        for arguments in [
            [], [tool.ledger], [tool.ledger, tool.ledger], [tool.ledger, "other.ledger", "--as-of", "1"],
            ["--as-of", "1", "--as-of", "2", "--as-of", "3"],
        ] {
            #expect(try tool.start(["diff"] + arguments).wait().status == 64, "\(arguments)")
        }
        #expect(try tool.run("diff", tool.ledger, tool.folder.path + "/none.ledger").status == 66)
    }

    @Test func `rows that differ have the columns, names and units of the lists`() throws {
        let tool = try pair().one
        for (view, list, key) in [
            ("nodes", "nodes", "node"), ("positions", "positions", "node"), ("telemetry", "telemetry", "node"),
            ("messages", "messages", "time"),
        ] {
            let found = try rows(tool, ["diff", "--as-of", "20", "--as-of", "600", "--view", view, "--rows"])
            let listed = try rows(tool, [list, "--as-of", "600"])
            let known = Set(try #require(listed.first).keys)
            for row in found {
                let columns = try #require(row["columns"] as? [String: Row])
                #expect(known.isSuperset(of: columns.keys), "\(view): \(columns.keys)")
                let names = try #require(row["key"] as? Row)
                let same = listed.filter { listed in names.allSatisfy { "\(listed[$0.key] ?? "")" == "\($0.value)" } }
                #expect(names[key] != nil && !same.isEmpty, "\(view): \(names)")
                guard same.count == 1, let same = same.first else { continue }
                for (name, sides) in columns {
                    let (after, listed) = (sides["after"] as? NSObject, same[name] as? NSObject)
                    #expect(after == listed, "\(view) \(name)")
                }
            }
            #expect(!found.isEmpty)
        }
    }
}
