import Foundation
import TestKit
import Testing

/// What nodes reported last, against all rows of the views as `export` writes them.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct LatestTests {
    private typealias Row = [String: Any]

    private func simulated() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "7", "--nodes", "25", "--packets", "3000")
        return tool
    }

    private func rows(_ tool: Tool, _ arguments: [String]) throws -> [Row] {
        let outcome = try tool.start(arguments + ["--format", "jsonl"]).wait()
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.objects
    }

    /// Newest first, by time and then by event.
    private func sorted(_ rows: [Row]) -> [Row] {
        rows.sorted { left, right in
            let (one, other) = (left["time"] as? String ?? "", right["time"] as? String ?? "")
            return one != other ? one > other : (left["sequence"] as? Int ?? 0) > (right["sequence"] as? Int ?? 0)
        }
    }

    private func newestOfEach(_ rows: [Row]) -> [Row] {
        var seen: Set<String> = []
        return sorted(rows).filter { seen.insert($0["node"] as? String ?? "").inserted }
    }

    private func sequences(_ rows: [Row]) -> [Int] { rows.compactMap { $0["sequence"] as? Int } }

    @Test(arguments: ["positions", "telemetry"])
    func `rows of all nodes come in the order of time, also page by page`(_ list: String) throws {
        let tool = try simulated()
        let all = sequences(sorted(try rows(tool, ["export", list])))
        #expect(all.count > 300)
        #expect(try sequences(rows(tool, [list])) == all)
        #expect(try sequences(rows(tool, [list, "--oldest-first"])) == all.reversed())
        #expect(try sequences(rows(tool, [list, "--limit", "40", "--offset", "90"])) == Array(all.dropFirst(90).prefix(40)))
        let middle = try #require(try rows(tool, [list])[all.count / 2]["time"] as? String)
        let later = try sorted(rows(tool, ["export", list])).filter { ($0["time"] as? String ?? "") >= middle }
        #expect(try sequences(rows(tool, [list, "--since", middle])) == sequences(later))
        #expect(try sequences(rows(tool, [list, "--until", middle])) == Array(all.dropFirst(later.count)))
        let node = try #require(later.first?["node"] as? String)
        let own = try sorted(rows(tool, ["export", list, "--node", node]))
        #expect(try sequences(rows(tool, [list, "--node", node])) == sequences(own))
    }

    @Test func `a row of unknown time is marked, and comes last of the latest`() throws {
        let tool = try Tool()
        try tool.run("init")
        let file = tool.folder.file("old.jsonl")
        let lines = [
            Line.position(0x11, latitudeE7: 525_000_000, longitudeE7: 134_000_000, time: 0),
            Line.position(0x12, latitudeE7: 526_000_000, longitudeE7: 135_000_000),
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        try tool.run("import", file.path)
        #expect(try rows(tool, ["positions", "--latest"]).map { $0["node"] as? String } == ["!00000012", "!00000011"])
        let table = try tool.run("positions", "--latest").output.split(separator: "\n")
        #expect(table.count == 3 && !table[1].contains("imported"), "\(table)")
        #expect(table[2].split(separator: "imported 20").count == 3, "both its time and since when")
    }

    @Test func `latest is one row per node, the newest, also within times and as of an event`() throws {
        let tool = try simulated()
        for list in [["positions"], ["telemetry"], ["telemetry", "--kind", "device"]] {
            let export = ["export"] + list
            #expect(try sequences(rows(tool, list + ["--latest"])) == sequences(newestOfEach(rows(tool, export))), "\(list)")
            let past = ["--as-of", "1500"]
            let then = try newestOfEach(rows(tool, export + past))
            #expect(try sequences(rows(tool, list + ["--latest"] + past)) == sequences(then), "\(list)")
            let middle = try #require(then[then.count / 2]["time"] as? String)
            let before = try rows(tool, export).filter { ($0["time"] as? String ?? "") < middle }
            #expect(try sequences(rows(tool, list + ["--latest", "--until", middle])) == sequences(newestOfEach(before)))
            let first = try #require(then.first?["node"] as? String)
            #expect(try rows(tool, list + ["--latest", "--node", first]).count == 1)
        }
    }

    @Test func `nodes have their newest battery, voltage, utilization and position`() throws {
        let tool = try simulated()
        for past in [[], ["--as-of", "1500"]] {
            func byNode(_ export: [String]) throws -> [String: Row] {
                let pairs = try newestOfEach(rows(tool, ["export"] + export + past)).map { ($0["node"] as? String ?? "", $0) }
                return Dictionary(uniqueKeysWithValues: pairs)
            }
            let (devices, positions) = try (byNode(["telemetry", "--kind", "device"]), byNode(["positions"]))
            let nodes = try rows(tool, ["nodes"] + past)
            #expect(!devices.isEmpty && !positions.isEmpty && nodes.count >= devices.count)
            for node in nodes {
                let id = try #require(node["node"] as? String)
                for name in ["battery_level", "voltage", "channel_utilization"] {
                    #expect(node[name] as? Double == devices[id]?[name] as? Double, "\(id) \(name)")
                }
                for name in ["latitude", "longitude"] { #expect(node[name] as? Double == positions[id]?[name] as? Double) }
                #expect(node["telemetry_time"] as? String == devices[id]?["time"] as? String)
                #expect(node["position_time"] as? String == positions[id]?["time"] as? String)
            }
            let low = try rows(tool, ["nodes", "--where", "battery < 50"] + past).compactMap { $0["node"] as? String }
            let wanted = devices.filter { ($0.value["battery_level"] as? Double ?? 999) < 50 }.keys
            #expect(low.sorted() == wanted.sorted() && !low.isEmpty)
        }
    }

    @Test func `silent nodes are those not heard since, counted back from the time as of which they are listed`() throws {
        let now = Int(Date().timeIntervalSince1970)
        let tool = try Tool(holding: [
            Line.node(0x1000_0001, long: "Harbour", short: "H1", time: now - 200_000),
            Line.node(0x1000_0002, long: "Lighthouse", short: "L1", time: now - 3_000),
            Line.node(0x1000_0003, long: "Café", short: "C1", time: now - 100_000),
            Line.position(0x1000_0003, latitudeE7: 475_000_000, longitudeE7: 90_000_000, time: now - 100_000),
        ])
        func names(_ arguments: String...) throws -> [String] {
            try rows(tool, ["nodes"] + arguments).compactMap { $0["long_name"] as? String }
        }
        #expect(try names("--silent", "1d") == ["Café", "Harbour"])
        #expect(try names("--silent", "2d") == ["Harbour"])
        #expect(try names("--silent", "2d", "--since", "1d").isEmpty)
        #expect(try names("--silent", "10m").count == 3)
        #expect(try tool.run("nodes", "--silent", "never").status == 64)
        #expect(
            try tool.run("nodes", "--silent", "1d", "--columns", "name,pos_age").lines.dropFirst().first?.hasSuffix("1d") ?? false
        )
    }

    @Test func `a table of nodes fits a terminal of 120 columns with room for a name`() throws {
        let table = try simulated().run("nodes")
        let names = [
            "node", "short", "name", "last heard", "snr dB", "hops", "packets", "latitude", "longitude", "pos age", "battery %",
        ]
        let heading = try #require(table.lines.first)
        #expect(
            heading.components(separatedBy: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty } == names)
        #expect(table.lines.allSatisfy { $0.count <= 128 }, "\(heading.count)")
    }
}
