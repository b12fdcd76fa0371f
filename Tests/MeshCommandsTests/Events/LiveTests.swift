import EventLog
import Foundation
import TestKit
import Testing

/// What comes in while a command runs.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"), .timeLimit(.minutes(20)))
struct LiveTests {
    private static func text(_ file: URL) throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// Waits until what a command has printed is as wanted.
    private func wait(_ running: Tool.Running, line: Int = #line, _ isWanted: (String) -> Bool) throws {
        try waitUntil(every: .milliseconds(20), line: line) { try isWanted(Self.text(running.output)) }
    }

    private func follows(_ tool: Tool, _ arguments: String...) throws -> Tool.Running {
        let running = try tool.start(arguments + ["--follow", "--format", "csv"])
        try wait(running) { $0.contains("\r\n") }
        return running
    }

    @Test func `events that come in are printed decoded, as the list has them, until Control-C`() throws {
        let tool = try Tool(holding: [Line.text("before", from: 1)])
        let running = try follows(tool, "events", "--columns", "sequence,from,port,channel,content")
        try tool.run("import", tool.write([Line.text("now, then", from: 2), Line.text("more", from: 3)], to: "more.jsonl"))
        try wait(running) { $0.contains("more") }
        kill(running.process.processIdentifier, SIGINT)
        let outcome = try running.wait()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
        #expect(
            outcome.output
                == "sequence,from,port,channel,content\r\n2,!00000002,TEXT_MESSAGE_APP,index 0,\"now, then\"\r\n"
                + "3,!00000003,TEXT_MESSAGE_APP,index 0,more\r\n")
        let list = try tool.run(
            "events", "--columns", "sequence,from,port,channel,content", "--format", "csv", "--oldest-first", "--offset", "1")
        #expect(list.output == outcome.output)
    }

    private func eventCount(_ tool: Tool) throws -> Int {
        try tool.run("stats", "--format", "json").objects.first?["events"] as? Int ?? 0
    }

    @Test func `it selects what the lists select, and names channels as they do, before the index has the events`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "3", "--nodes", "8", "--packets", "20")
        let before = try eventCount(tool)
        let columns = ["--format", "csv", "--columns", "sequence,channel,port"]
        let node = String(try tool.run("nodes", "--limit", "1", "--columns", "node", "--format", "csv").lines[1])
        let selections: [[String]] = [
            [], ["--node", node], ["--node", node, "--mentions"], ["--channel", "longfast"], ["--port", "POSITION_APP"],
            ["--where", "bytes>100"], ["--failed"], ["--source", "simulation", "--port", "TELEMETRY_APP"],
        ]
        let all = try selections.map { try tool.start(["events"] + $0 + ["--follow"] + columns) }
        for running in all { try wait(running) { $0.contains("\r\n") } }
        try tool.run("simulate", "--seed", "3", "--nodes", "8", "--packets", "300")
        let count = try eventCount(tool)
        try wait(all[0]) { $0.contains("\r\n\(count),") }
        for (selection, running) in zip(selections, all) {
            let list = try tool.start(["events"] + selection + ["--by", "arrival", "--oldest-first"] + columns).wait()
            let expected = list.lines.dropFirst().filter { Int($0.prefix { $0 != "," }) ?? 0 > before }
            try wait(running) { $0.split(separator: "\r\n").count > expected.count }
            kill(running.process.processIdentifier, SIGINT)
            let found = Array(try running.wait().lines.dropFirst())
            #expect(found == expected && !expected.isEmpty, "\(selection)")
        }
    }

    @Test func `packets of a hash that was never heard are printed when they come`() throws {
        func filled() throws -> Tool {
            let tool = try Tool()
            try tool.run("init")
            return tool
        }
        func simulate(_ tool: Tool) throws { try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "800") }
        let (other, tool) = (try filled(), try filled())
        try simulate(other)
        let channels = try other.run("channels", "--format", "jsonl").objects
        let hash = try #require(channels.first { $0["readable"] as? Bool == false }?["hash"] as? Int)
        let running = try follows(tool, "packets", "--channel", "Hash \(hash)", "--columns", "id,channel")
        try simulate(tool)
        try wait(running) { $0.contains("hash \(hash), unreadable") }
        kill(running.process.processIdentifier, SIGINT)
        #expect(try running.wait().status == 0)
        #expect(try tool.start(["packets", "--follow", "--channel", "hash 256"]).wait().status == 66)
    }

    @Test func `in an empty ledger, the hash of a known channel is that channel`() throws {
        let tool = try Tool(holding: [])
        let running = try follows(tool, "packets", "--channel", "hash 8", "--columns", "id,channel")
        try tool.run("simulate", "--seed", "4", "--nodes", "5", "--packets", "60")
        try wait(running) { $0.contains(",LongFast") }
        kill(running.process.processIdentifier, SIGINT)
        #expect(try running.wait().status == 0)
    }

    @Test func `a source without events is waited for, and a line says so`() throws {
        let tool = try Tool(holding: [Line.text("before", from: 1)])
        let running = try follows(tool, "events", "--source", "late.jsonl", "--columns", "source,content")
        try tool.run("import", tool.write([Line.text("not this", from: 2)], to: "early.jsonl"))
        try tool.run("import", tool.write([Line.text("this", from: 3)], to: "late.jsonl"))
        try wait(running) { $0.contains("this") }
        kill(running.process.processIdentifier, SIGINT)
        let outcome = try running.wait()
        #expect(outcome.status == 0 && outcome.output == "source,content\r\nfile:late.jsonl,this\r\n", "\(outcome)")
        #expect(outcome.errors == "meshledger: there is no source late.jsonl yet; its events are printed when they come\n")
    }

    @Test func `a packet is printed when it is first heard, and not again`() throws {
        let tool = try Tool()
        try tool.run("init")
        let running = try follows(tool, "packets", "--columns", "first_sequence,from,id,port,channel")
        let capture = tool.folder.file("capture.base64")
        try tool.run("simulate", "--seed", "5", "--nodes", "10", "--packets", "160", "--to", capture.path, "--as", "envelopes")
        for _ in 1...2 {
            #expect(try tool.start(["import", "-"], input: try FileHandle(forReadingFrom: capture)).wait().status == 0)
        }
        try tool.run("import", tool.write([Line.text("last", from: 3)], to: "last.jsonl"))
        let list = try tool.run(
            "packets", "--by", "arrival", "--oldest-first", "--columns", "first_sequence,from,id,port,channel", "--format", "csv")
        #expect(list.lines.count > 60 && list.output.contains("MAP_REPORT_APP"))
        try wait(running) { $0.split(separator: "\r\n").count >= list.lines.count }
        kill(running.process.processIdentifier, SIGINT)
        #expect(try running.wait().output == list.output)
    }

    @Test(arguments: ["events", "packets"]) func `with --since it begins with what has come in since, and ends after --limit`(
        list: String
    ) throws {
        func lines(_ numbers: ClosedRange<Int>) -> [String] {
            numbers.map { Line.text("number \($0)", from: 7, time: 1_760_000_000 + $0 * 61) }
        }
        let tool = try Tool(holding: lines(1...3))
        let since = ISO8601.text(microseconds: Timestamp.now.microseconds)
        try tool.run("import", tool.write(lines(4...9), to: "later.jsonl"))
        let outcome = try tool.run(
            list, "--follow", "--since", since, "--limit", "3", "--format", "csv", "--columns", "time,content")
        #expect(outcome.status == 0, "\(outcome)")
        #expect(outcome.lines.dropFirst().map { $0.suffix(8) } == ["number 4", "number 5", "number 6"], "\(outcome)")
    }

    @Test func `receptions of which only the import's time is known are of the packet that is known`() throws {
        let tool = try Tool(
            holding: [4_000_000_000, 1_760_000_000, 4_100_000_000].map { Line.text("one", from: 7, time: $0) } + [
                Line.text("two", from: 7)
            ])
        let followed = try tool.run(
            "packets", "--follow", "--since", "1d", "--limit", "2", "--format", "csv", "--columns", "content")
        #expect(followed.lines.dropFirst() == ["one", "two"], "\(followed)")
    }

    @Test func `two packets with one sender and id are two, as in the list`() throws {
        let tool = try Tool(holding: ["one", "one", "two"].map { Line.text($0, from: 7) })
        #expect(try tool.run("packets", "--format", "jsonl").objects.map { $0["has_conflict"] as? Bool } == [true, true])
        let followed = try tool.run(
            "packets", "--follow", "--since", "1d", "--limit", "2", "--format", "csv", "--columns", "content")
        #expect(followed.lines.dropFirst() == ["one", "two"], "\(followed)")
    }

    @Test(arguments: [["--sort", "time"], ["--until", "now"], ["--as-of", "1"], ["--count-by", "port"], ["--offset", "1"]])
    func `what needs all rows is refused beside --follow`(option: [String]) throws {
        let tool = try Tool(holding: [Line.text("one", from: 1)])
        let outcome = try tool.start(["events", "--follow"] + option).wait()
        #expect(outcome.status == 64 && outcome.errors.contains("--follow prints events as they arrive"), "\(outcome)")
    }

    @Test(arguments: [
        ("messages", "follow --view messages"), ("message", "follow --view messages"), ("channels", "packets --follow"),
    ])
    func `a list that cannot follow names the command that does`(_ list: String, _ command: String) throws {
        let refused = try Tool().run(list, "--follow")
        #expect(refused.status == 64 && refused.errors.contains("`meshledger \(command)"), "\(refused)")
    }

    @Test(arguments: ["events", "packets"]) func `rows are chosen, and show, how they were received`(list: String) throws {
        let tool = try Tool(holding: [Line.text("before", from: 1)])
        let running = try follows(tool, list, "--where", "snr>1", "--columns", "from,snr,rssi,content")
        try tool.run("import", tool.write([Line.text("now", from: 2)], to: "more.jsonl"))
        try wait(running) { $0.contains("now") }
        kill(running.process.processIdentifier, SIGINT)
        let outcome = try running.wait()
        #expect(outcome.output == "from,snr,rssi,content\r\n!00000002,5.5,-60,now\r\n", "\(outcome)")
    }

    @Test func `an id in the place of an event's number leads to the packet`() throws {
        let tool = try Tool(holding: [Line.text("hello", from: 77)])
        let id = try #require(try tool.run("packets", "--format", "jsonl").objects.first?["id"] as? Int)
        let refused = try tool.run("packets", "show", "\(id)")
        #expect(refused.status == 66 && refused.errors.contains("`meshledger packets receptions \(id)`"), "\(refused.errors)")
    }

    @Test func `tables have the hops of a trace route as ids and their strengths in decibels, programs get what was sent`() throws
    {
        let strengths: [UInt8] =
            [0x10, 0xb3] + Array(repeating: 0xff, count: 8) + [0x01, 0x80] + Array(repeating: 0xff, count: 8) + [0x01]
        let route: [UInt8] = [0x0a, 8, 0x44, 0x33, 0x22, 0x11, 0xff, 0xff, 0xff, 0xff, 0x12, UInt8(strengths.count)] + strengths
        let data = [0x08, 70, 0x12, UInt8(route.count)] + route
        let packet = [0x0d, 1, 0, 0, 0, 0x15, 2, 0, 0, 0, 0x22, UInt8(data.count)] + data + [0x35, 7, 0, 0, 0]
        let envelope =
            [0x0a, UInt8(packet.count)] + packet + [0x12, 8] + Array("LongFast".utf8) + [0x1a, 9] + Array("!0000abcd".utf8)
        let tool = try Tool()
        try tool.run("init")
        try tool.run("import", tool.write([Data(envelope).base64EncodedString()], to: "trace.base64"))
        for list in ["packets", "events"] {
            let options = [list, "--follow", "--since", "1d", "--limit", "1", "--columns", "content"]
            let table = try tool.start(options).wait()
            #expect(
                table.lines.last?.trimmingCharacters(in: .whitespaces) == "route={!11223344 ?} snr_towards={4.0 -19.25 ?} dB",
                "\(table)")
            let json = try tool.start(options + ["--format", "jsonl"]).wait()
            #expect(json.output.contains(#""content":{"route":[287454020,4294967295],"snr_towards":[16,-77,-128]}"#), "\(json)")
        }
    }

    @Test func `the list shows what packets hold where that column is named`() throws {
        let tool = try Tool(holding: [
            Line.text("hello", from: 1), Line.position(2, latitudeE7: 470_000_000, longitudeE7: 80_000_000),
        ])
        for list in ["events", "packets"] {
            let rows = try tool.run(list, "--columns", "from,content", "--format", "jsonl", "--by", "arrival").objects
            #expect(rows.last?["content"] as? String == "hello", "\(rows)")
            #expect((rows.first?["content"] as? [String: Any])?["latitude_i"] as? Int == 470_000_000, "\(rows)")
        }
    }

    @Test func `follow feeds events raw or decoded, as JSON lines or CSV`() throws {
        let tool = try Tool(holding: [Line.text("hello, you", from: 1), Line.text("two", from: 2)])
        func feed(_ name: String, _ arguments: String...) throws -> Tool.Outcome {
            try tool.start(["follow", "--no-follow", "--consumer", name] + arguments).wait()
        }
        for format in ["jsonl", "csv"] {
            let (fed, exported) = (try feed(format, "--format", format), try tool.run("export", "events", "--format", format))
            #expect(fed.output == exported.output)
        }
        let decoded = try feed("decoded", "--decoded")
        #expect(decoded.objects.map { $0["content"] as? String } == ["hello, you", "two"], "\(decoded)")
        #expect(decoded.objects.map { $0["port"] as? String } == ["TEXT_MESSAGE_APP", "TEXT_MESSAGE_APP"], "\(decoded)")
        let table = try feed("table", "--decoded", "--format", "csv")
        #expect(table.lines.count == 3 && table.lines[0].hasSuffix(",content") && table.lines[1].hasSuffix("\"hello, you\""))
        #expect(try feed("view", "--view", "nodes", "--decoded").status == 64)
    }
}
