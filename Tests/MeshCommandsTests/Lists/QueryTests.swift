import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct QueryTests {
    private static let lines = [
        Line.node(0x11, long: "Alpha \u{1b}[31m", short: "1234", time: 1_760_000_000),
        Line.node(0x22, long: "=Beta, \"B\"", short: "BE", time: 1_760_000_100),
        Line.text("first", from: 0x11, time: 1_760_000_200),
        Line.text("second", from: 0x22, time: 1_760_000_300),
        Line.position(0x11, latitudeE7: 501_234_567, longitudeE7: -12_345_678, time: 1_760_000_400),
    ]

    @Test func `a node is found by id, number and name, a short name of digits included`() throws {
        let tool = try Tool(holding: Self.lines)
        for name in ["!11", "!00000011", "17", "1234"] {
            let rows = try tool.run("nodes", "--node", name, "--format", "jsonl").objects
            #expect(rows.map { $0["node"] as? String } == ["!00000011"], "\(name)")
        }
        #expect(try tool.run("messages", "--node", "be", "--format", "jsonl").objects.count == 1)
    }

    @Test func `rows are filtered by time, limit and offset`() throws {
        let tool = try Tool(holding: Self.lines)
        func texts(_ arguments: String...) throws -> [String] {
            try tool.start(["messages", "--format", "jsonl"] + arguments).wait().objects.compactMap { $0["text"] as? String }
        }
        #expect(try texts() == ["second", "first"])
        #expect(try texts("--oldest-first") == ["first", "second"])
        #expect(try texts("--limit", "1", "--offset", "1") == ["first"])
        #expect(try texts("--since", "1760000300") == ["second"])
        #expect(try texts("--until", "1760000300") == ["first"])
        #expect(try texts("--since", "2025-10-09T08:56:40Z", "--until", "2025-10-09T08:58:20Z") == ["first"])
    }

    @Test func `G11: messages and nodes are found by the words of their texts`() throws {
        let tool = try Tool(
            holding: Self.lines + [
                Line.text("The WATER pump is broken", from: 0x11, time: 1_760_000_500),
                Line.text("water, water everywhere: bring a pump", from: 0x22, time: 1_760_000_600),
                Line.text("no wäter here", from: 0x22, time: 1_760_000_700),
            ])
        func texts(_ arguments: String...) throws -> [String] {
            try tool.start(["search", "--format", "jsonl"] + arguments).wait().objects.compactMap { $0["text"] as? String }
        }
        #expect(try texts("pump", "Water").map { $0.prefix(5) } == ["water", "The W"])
        #expect(try texts("water").count == 3)
        #expect(try texts("--any", "first", "broken").count == 2)
        #expect(try texts("wat").isEmpty)
        #expect(try texts("water", "--node", "!11") == ["The WATER pump is broken"])
        #expect(try texts("water", "--until", "1760000600").count == 1)
        #expect(try texts("water", "--limit", "1", "--offset", "2").count == 1)
        let nodes = try tool.run("search", "--in", "nodes", "BÉTA", "--format", "jsonl").objects
        #expect(nodes.map { $0["node"] as? String } == ["!00000022"])
        let short = try tool.run("search", "--in", "nodes", "BE", "--format", "jsonl").objects
        #expect(short.map { $0["node"] as? String } == ["!00000022"])
        let both = try tool.run("search", "--in", "nodes", "be beta", "--format", "jsonl").objects
        #expect(both.map { $0["node"] as? String } == ["!00000022"])
        #expect(try tool.run("search", "--in", "nodes", "be alpha", "--format", "jsonl").objects.isEmpty)
    }

    @Test func `G10: messages and nodes are found by parts of their texts, with or without case and accents`() throws {
        let tool = try Tool(
            holding: Self.lines + [
                Line.text("The WATER pump is broken 👍", from: 0x11, time: 1_760_000_500),
                Line.text("no wäter here", from: 0x22, time: 1_760_000_700),
            ])
        func texts(_ arguments: String...) throws -> [String] {
            try tool.start(arguments + ["--format", "jsonl"]).wait().objects.compactMap {
                ($0["text"] as? String).map { String($0.prefix(8)) }
            }
        }
        #expect(try texts("messages", "--contains", "ater") == ["no wäter", "The WATE"])
        #expect(try texts("messages", "--contains", "ater", "--oldest-first", "--limit", "1") == ["The WATE"])
        #expect(try texts("messages", "--contains", "ater", "--exact").isEmpty)
        #expect(try texts("messages", "--contains", "R p", "--exact") == ["The WATE"])
        #expect(try texts("messages", "--contains", "👍", "--node", "!11") == ["The WATE"])
        #expect(try texts("messages", "--contains", "👍", "--node", "!22").isEmpty)
        #expect(try texts("messages", "--contains", "").count == 4)
        #expect(try texts("search", "water", "--contains", "pump is") == ["The WATE"])
        #expect(try tool.run("messages", "--exact").status == 64)
        let nodes = try tool.run("nodes", "--contains", "éTA", "--format", "jsonl").objects
        #expect(nodes.map { $0["node"] as? String } == ["!00000022"])
    }

    @Test func `events are paged and filtered without losing one`() throws {
        let tool = try Tool(holding: Self.lines)
        func sequences(_ arguments: String...) throws -> [Int] {
            try tool.start(["events", "--format", "jsonl"] + arguments).wait().objects.compactMap { $0["sequence"] as? Int }
        }
        #expect(try sequences() == [5, 4, 3, 2, 1])
        #expect(try sequences("--oldest-first", "--limit", "2", "--offset", "1") == [2, 3])
        #expect(try sequences("--node", "!11") == [5, 3, 1])
        #expect(try sequences("--node", "!11", "--limit", "1", "--offset", "1") == [3])
        #expect(try sequences("--port", "TEXT_MESSAGE_APP") == [4, 3])
        #expect(try sequences("--limit", "0").isEmpty)
        #expect(try sequences("--since", "yesterday", "--until", "yesterday").isEmpty)
    }

    @Test func `no control character reaches the output of a table or of JSON`() throws {
        let tool = try Tool(holding: Self.lines)
        for format in ["table", "json", "jsonl"] {
            let output = try tool.run("nodes", "--format", format).output
            #expect(output.contains("Alpha"))
            #expect(!output.unicodeScalars.contains("\u{1b}"))
        }
    }

    @Test func `an empty value that is alone on its line of CSV is quoted, since readers skip empty lines`() throws {
        let tool = try Tool(holding: [Line.text("a node without a name", from: 0x11)])
        #expect(try tool.run("nodes", "--columns", "long_name", "--format", "csv").output == "long_name\r\n\"\"\r\n")
        let answer = try tool.run("sql", "SELECT '' AS a, NULL AS b", "--format", "csv").output
        #expect(answer == "a,b\r\n,\r\n")
        #expect(try tool.run("export", "nodes", "--columns", "long_name", "--format", "csv").output.contains("\"\""))
    }

    @Test func `CSV is quoted and cannot start a formula`() throws {
        let output = try Tool(holding: Self.lines).run("nodes", "--format", "csv").output
        #expect(output.contains("\"'=Beta, \"\"B\"\"\""))
        #expect(output.hasSuffix("\r\n"))
    }

    @Test func `JSON is one document with every column`() throws {
        let data = Data(try Tool(holding: Self.lines).run("positions", "--format", "json").output.utf8)
        let rows = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(rows[0]["latitude"] as? Double == 50.1234567)
        #expect(rows[0]["longitude"] as? Double == -1.2345678)
        #expect(rows[0]["altitude"] as? Int == 120)
    }

    @Test func `an empty answer is an empty document, and no failure`() throws {
        let tool = try Tool()
        try tool.run("init")
        let json = try tool.run("nodes", "--format", "json")
        #expect((json.status, json.output.filter { !$0.isWhitespace }) == (0, "[]"))
        #expect(try tool.run("nodes").output.isEmpty)
    }

    @Test func `a reader that goes away ends the command quietly`() throws {
        let lines = (0..<3000).map { Line.text("message \($0)", from: 0x11, time: 1_760_000_000 + $0) }
        let tool = try Tool(holding: lines)
        let outcome = try tool.shell("\"$0\" export events | head -n 1 | wc -l")
        #expect(outcome.errors.isEmpty && outcome.output.contains("1"), "\(outcome)")
    }

    @Test func `X7: events of one source are distinguished from those of another`() throws {
        let tool = try Tool()
        try tool.run("init")
        for name in ["roof", "hill"] {
            let line = Line.text("from the \(name)", from: 0x11, time: name == "roof" ? 1_760_000_000 : 1_760_000_001)
            try tool.run("import", "--source", name, tool.write([line], to: name + ".jsonl"))
        }
        #expect(try tool.run("events", "--format", "jsonl").objects.count == 2)
        for (name, sequence) in [("roof", 1), ("hill", 2)] {
            let found = try tool.run("events", "--source", name, "--format", "jsonl").objects
            #expect(found.compactMap { $0["sequence"] as? Int } == [sequence])
        }
        #expect(try tool.run("events", "--source", "roof", "--failed", "--format", "jsonl").objects.isEmpty)
        #expect(try tool.run("events", "--source", "cellar").status == 66)
    }

    @Test func `a part of several sources' names is refused as one of several nodes' is`() throws {
        let tool = try Tool()
        try tool.run("init")
        for (number, name) in ["roof east", "roof west"].enumerated() {
            let lines = [
                Line.text(name, from: 0x11, time: 1_760_000_000 + number),
                Line.node(UInt32(0x21 + number), long: "Rover", short: "r\(number)"),
            ]
            try tool.run("import", "--source", name, tool.write(lines, to: "\(number).jsonl"))
        }
        let source = try tool.run("events", "--source", "roof")
        #expect(source.status == 64 && source.errors.contains("2 sources have this name: roof east, roof west"), "\(source)")
        let node = try tool.run("positions", "--node", "Rover")
        #expect(node.status == 64 && node.errors.contains("(!00000021, !00000022); give the node's id"), "\(node)")
    }

    @Test func `the age of a position is compared as a length of time, and its time as a time`() throws {
        let now = Int(Date().timeIntervalSince1970)
        let tool = try Tool(holding: [
            Line.position(1, latitudeE7: 470_000_000, longitudeE7: 80_000_000, time: now - 7_200),
            Line.position(2, latitudeE7: 470_000_000, longitudeE7: 80_000_000, time: now - 3 * 86_400),
            Line.text("no position", from: 3),
        ])
        // Of this one only the time of its import is known, and so no age.
        let unknown = Line.position(4, latitudeE7: 470_000_000, longitudeE7: 80_000_000, time: 4_000_000_000)
        try tool.run("import", tool.write([unknown], to: "unknown.jsonl"))
        func nodes(_ arguments: String...) throws -> [String] {
            let outcome = try tool.start(["nodes", "--format", "csv", "--columns", "node"] + arguments).wait()
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.lines.dropFirst().map(String.init)
        }
        #expect(try nodes("--where", "pos_age>1d") == ["!00000002"] && nodes("--where", "pos age < 3h") == ["!00000001"])
        #expect(try nodes("--where", "position_time>1d") == ["!00000001", "!00000004"])
        #expect(try nodes("--sort", "pos_age").prefix(2) == ["!00000001", "!00000002"])
        #expect(try tool.run("nodes", "--columns", "node,pos_age,position_time").lines[0].contains("pos age  position time"))
        let refused = try tool.run("nodes", "--where", "pos_age>2025-01-01")
        #expect(refused.status == 64 && refused.errors.contains("is not a length of time"), "\(refused)")
    }
}
