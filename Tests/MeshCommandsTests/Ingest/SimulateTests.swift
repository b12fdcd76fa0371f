import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct SimulateTests {
    @Test(arguments: ["envelopes", "jsonl", "stream", "length-prefixed", "mqtt-json"])
    func `a simulated file of every format is the same each time and can be imported`(format: String) throws {
        let tool = try Tool()
        try tool.run("init")
        var files: [Data] = []
        for name in ["first", "second"] {
            let path = tool.folder.file(name).path
            let made = try tool.run("simulate", "--seed", "5", "--nodes", "20", "--packets", "200", "--to", path, "--as", format)
            #expect(made.status == 0)
            files.append(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        #expect(files[0] == files[1])
        #expect(!files[0].isEmpty)
        let imported = try tool.run("import", tool.folder.file("first").path)
        #expect(imported.status == 0)
        #expect(imported.output.contains("(\(format))"))
        let events = try tool.run("stats", "--format", "json").objects.first?["events"] as? Int
        #expect((events ?? 0) > 100)
    }

    @Test func `simulated traffic goes straight into a ledger and fills all views`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("simulate", "--seed", "1", "--nodes", "40", "--packets", "3000").status == 0)
        let verbs = [
            "nodes", "positions", "telemetry", "messages", "channels", "waypoints --all", "traceroutes", "links", "gateways",
            "gateways --nodes", "mapreports", "sensors", "nodehistory", "hardware",
        ]
        for verb in verbs {
            #expect(
                try !tool.start(verb.split(separator: " ").map(String.init) + ["--format", "jsonl"]).wait().objects.isEmpty,
                "\(verb)")
        }
        #expect(try tool.run("verify").status == 0)
    }

    @Test func `stats tells when packets were heard, beside when they came in`() throws {
        let tool = try Tool()
        try tool.run("init")
        #expect(try tool.run("stats").output.contains("heard") == false, "nothing was heard")
        try tool.run("simulate", "--seed", "1", "--nodes", "20", "--packets", "500", "--start", "2025-09-01T00:00:00Z")
        let stats = try #require(try tool.run("stats", "--format", "json").objects.first)
        for (fact, order) in [("first_heard", ["--oldest-first"]), ("last_heard", [])] {
            let packet = try tool.start(["packets", "--limit", "1", "--format", "jsonl"] + order).wait().objects.first
            #expect((stats[fact] as? String)?.prefix(19) == (packet?["time"] as? String)?.prefix(19), "\(fact)")
        }
        #expect(try tool.run("stats").output.contains("from 2025-09-01T"))
    }

    @Test(arguments: ["1970-01-01", "1999-12-31T23:59:59Z", "2100-01-01", "2106-02-07"])
    func `traffic begins between 2000 and 2099`(start: String) throws {
        let tool = try Tool()
        let file = tool.folder.file("capture").path
        let refused = try tool.run("simulate", "--packets", "200", "--to", file, "--start", start)
        #expect(refused.status == 64 && refused.errors.contains("--start is a time from 2000 to 2099"), "\(refused)")
        for start in ["2000-01-01T00:00:00Z", "2099-12-31T23:59:59Z"] {
            #expect(try tool.run("simulate", "--packets", "200", "--to", file, "--start", start).status == 0, "\(start)")
        }
    }

    @Test func `a rebuild gives the same digests`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--packets", "2000", "--nodes", "30")
        let before = try tool.run("view", "digest").output
        #expect(try tool.run("rebuild").status == 0)
        #expect(try tool.run("view", "digest").output == before)
        try FileManager.default.removeItem(atPath: tool.ledger + "/views")
        #expect(try tool.run("view", "digest").output == before)
    }

    @Test func `a pipe that is written to stays a pipe`() throws {
        let tool = try Tool()
        let path = tool.folder.file("pipe").path
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let output = Pipe.ofOneChild()
        _ = try Process.start(URL(fileURLWithPath: "/bin/cat"), [path], output: output)
        #expect(try tool.run("simulate", "--packets", "10", "--to", path).status == 0)
        #expect(output.fileHandleForReading.readDataToEndOfFile().count { $0 == 10 } == 10)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType != .typeRegular)
    }
}
