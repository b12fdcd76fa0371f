import Foundation
import TestKit
import Testing

/// Answers about what rows do not have themselves: since when a node is somewhere, its newest value of a metric, names, and what was never heard.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct AskedRows {
    private let start = 1_760_000_000

    private func telemetry(_ number: UInt32, _ minute: Int, _ payload: String) -> String {
        #"{"from":\#(number),"to":4294967295,"id":\#(Int(number) * 100 + minute),"channel":0,"type":"telemetry","sender":"!0000abcd","#
            + #""timestamp":\#(start + minute * 60),"payload":{\#(payload)}}"#
    }

    private func rows(_ tool: Tool, _ arguments: [String]) throws -> [[String: Any]] {
        let outcome = try tool.start(arguments + ["--format", "jsonl"]).wait()
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
        return outcome.objects
    }

    @Test func `the newest positions say since when a node is within 100 m of there`() throws {
        /// A node that stays, with jitter; one that has just moved; one that came back.
        let degrees = [0x11: [0, 300, -300, 0, 200], 0x12: [0, 0, 0, 0, 90_000], 0x13: [0, 90_000, 0, 0, 0]]
        let tool = try Tool(
            holding: degrees.sorted { $0.key < $1.key }.flatMap { number, places in
                places.enumerated().map { hour, place in
                    Line.position(
                        UInt32(number), latitudeE7: 470_000_000 + place, longitudeE7: 80_000_000, time: start + hour * 3_600)
                }
            })
        let newest = try rows(tool, ["positions", "--latest"])
        let hours = try Dictionary(
            uniqueKeysWithValues: newest.map { row in
                let since = try #require(try (row["since"] as? String).map { try Date($0, strategy: .iso8601) })
                return (row["node"] as? String ?? "", (Int(since.timeIntervalSince1970) - start) / 3_600)
            })
        #expect(hours == ["!00000011": 0, "!00000012": 4, "!00000013": 2])
        let many = try Tool(
            holding: (0..<100).map {
                Line.position(0x11, latitudeE7: 470_000_000, longitudeE7: 80_000_000, time: start + $0 * 600)
            })
        #expect(try rows(many, ["positions", "--latest"]).first?["since"] as? String == "2025-10-09T08:53:20Z")
    }

    @Test func `the newest telemetry with a condition on a metric is the newest that has it`() throws {
        let tool = try Tool(holding: [
            telemetry(0x11, 0, #""battery_level":10,"voltage":3.5"#), telemetry(0x11, 1, #""temperature":21.5"#),
            telemetry(0x12, 0, #""battery_level":12,"voltage":3.6"#), telemetry(0x13, 0, #""battery_level":90,"voltage":4.1"#),
        ])
        let low = try rows(tool, ["telemetry", "--latest", "--where", "battery_level<20"])
        #expect(low.compactMap { $0["node"] as? String }.sorted() == ["!00000011", "!00000012"])
        #expect(
            try rows(tool, ["telemetry", "--latest"]).first { $0["node"] as? String == "!00000011" }?["kind"] as? String
                == "environment")
        let sorted = try rows(tool, ["telemetry", "--latest", "--sort", "voltage", "--limit", "2"])
        #expect(sorted.compactMap { $0["node"] as? String } == ["!00000011", "!00000012"])
    }

    @Test func `a node or packet that was never heard is an error of exports and conditions, too`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "R1"), Line.text("hi", from: 0x11),
            Line.position(0x11, latitudeE7: 470_000_000, longitudeE7: 80_000_000),
        ])
        for export in [
            ["positions"], ["nodes"], ["messages"], ["telemetry"], ["packets"], ["receptions"], ["gateways"],
            ["positions", "--format", "gpx"], ["waypoints", "--format", "geojson"], ["packets", "--format", "csv"],
        ] {
            let refused = try tool.start(["export"] + export + ["--node", "!deadbeef"]).wait()
            #expect(refused.status == 66 && refused.errors.contains("!deadbeef was never heard"), "\(export): \(refused)")
            #expect(refused.output.isEmpty || export.contains("gpx") || export.contains("geojson"), "\(export): \(refused)")
            #expect(try tool.start(["export"] + export + ["--node", "Rover", "--since", "2099"]).wait().status == 0, "\(export)")
        }
        let file = tool.folder.file("track.gpx")
        #expect(try tool.run("export", "positions", "--node", "!deadbeef", "--format", "gpx", "-o", file.path).status == 66)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try tool.run("export", "packets", "--packet", "77").status == 66)
        #expect(try tool.run("export", "packets", "--gateway", "!deadbeef").status == 66)
        for (list, condition) in [
            ("packets", "from=!deadbeef"), ("nodes", "node=!deadbeef"), ("events", "gateway=!deadbeef"),
            ("positions", "node=!deadbeef"),
        ] {
            for command in [[list], ["export", list]] {
                let refused = try tool.start(command + ["--where", condition]).wait()
                #expect(refused.status == 66 && refused.errors.contains("never heard"), "\(command) \(condition): \(refused)")
            }
            #expect(try tool.run(list, "--where", condition.replacing("deadbeef", with: "00000011")).status == 0)
        }
        #expect(try tool.run("packets", "--where", "from!=!deadbeef").status == 0)
    }

    @Test func `names of nodes are columns on request, and headings of lists are names in exports and views`() throws {
        let tool = try Tool(holding: [
            Line.node(0x11, long: "Rover", short: "R1"), telemetry(0x11, 0, #""battery_level":10,"voltage":3.5"#),
            Line.position(0x11, latitudeE7: 470_000_000, longitudeE7: 80_000_000),
        ])
        for (list, column) in [("telemetry", "name"), ("packets", "from_name"), ("events", "from_name"), ("positions", "name")] {
            let found = try rows(tool, [list, "--where", "\(column)=Rover", "--columns", column])
            #expect(!found.isEmpty && found.allSatisfy { $0[column] as? String == "Rover" }, "\(list): \(found)")
        }
        for list in [["nodes"], ["export", "nodes"], ["view", "nodes"]] {
            let form = list[0] == "export" ? [] : ["--format", "jsonl"]
            let low = try tool.start(list + ["--where", "battery < 20"] + form).wait()
            #expect(low.status == 0 && low.objects.count == 1, "\(list): \(low)")
            #expect(try tool.start(list + ["--where", "battery > 20"] + form).wait().objects.isEmpty, "\(list)")
        }
        let wrong = try tool.run("export", "nodes", "--where", "batery<20")
        #expect(wrong.status == 64 && wrong.errors.contains("did you mean battery?"), "\(wrong)")
        #expect(wrong.errors.contains("channel_utilization"), "\(wrong)")
        let file = tool.folder.file("track.gpx")
        let track = try tool.run("export", "positions", "--where", "name~rov", "--format", "gpx", "-o", file.path)
        #expect(track.status == 0, "\(track)")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("</gpx>"))
        let none = try tool.run("export", "positions", "--where", "nam~rov", "--format", "gpx")
        #expect(none.status == 64 && none.output.isEmpty, "\(none)")
    }

    @Test func `wide tables of nodes have voltage and channel utilisation`() throws {
        let tool = try Tool(holding: [telemetry(0x11, 0, #""battery_level":10,"voltage":3.5,"channel_utilization":7.25"#)])
        #expect(try tool.run("nodes", "--wide").lines.contains { $0.contains("voltage V") && $0.contains("util %") })
        #expect(try tool.shown(["nodes"], columns: 200).lines.contains { $0.contains("3.5") && $0.contains("7.25") })
        #expect(try !tool.run("nodes").output.contains("voltage"))
    }

    @Test func `bars of negative values begin below the least`() throws {
        let tool = try Tool(holding: [])
        try tool.run("simulate", "--seed", "9", "--nodes", "5", "--packets", "300")
        let means = try tool.run("packets", "--count-by", "port", "--mean", "rssi", "--format", "jsonl").objects
        let chart = try tool.run("packets", "--count-by", "port", "--mean", "rssi", "--chart").lines
        #expect(chart[0].contains("bars from -"), "\(chart)")
        let bars = Dictionary(
            uniqueKeysWithValues: chart.dropFirst().map { line in
                (String(line.prefix { $0 != " " }), line.count { "█▏▎▍▌▋▊▉".contains($0) })
            })
        let known = means.compactMap { row in (row["mean_rssi"] as? Double).map { (row["port"] as? String ?? "", $0) } }
        let ordered = known.sorted { $0.1 < $1.1 }.map { bars[$0.0] ?? -1 }
        #expect(ordered == ordered.sorted() && ordered.count > 2 && ordered.allSatisfy { $0 > 0 }, "\(chart)")
    }

    @Test func `positions and telemetry also say when they were heard, in lists, views and exports`() throws {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "2500")
        let events = try rows(tool, ["events"]).map { ($0["sequence"] as? Int ?? 0, $0["time"] as? String ?? "") }
        let times = Dictionary(uniqueKeysWithValues: events)
        for list in ["positions", "telemetry", "telemetry --kind device", "positions --latest"] {
            let words = list.split(separator: " ").map(String.init)
            #expect(try rows(tool, words).allSatisfy { $0["heard"] == nil }, "\(list)")
            let heard = try rows(tool, words + ["--columns", "sequence,heard,time", "--sort", "heard"])
            #expect(heard.count > 10, "\(list)")
            let found = heard.map { $0["heard"] as? String ?? "" }
            #expect(found == found.sorted() && found == heard.map { times[$0["sequence"] as? Int ?? 0] }, "\(list)")
            #expect(zip(found, heard).contains { !$0.hasPrefix(($1["time"] as? String ?? "").dropLast()) }, "\(list)")
            let middle = try #require(found.dropFirst(found.count / 2).first)
            let later = try rows(tool, words + ["--columns", "heard", "--where", "heard>=\(middle)"])
            #expect(later.count == found.count { $0 >= middle } && later.count < found.count, "\(list)")
        }
        for rows in ["positions", "telemetry"] {
            func lines(_ command: [String]) throws -> [Substring] {
                try tool.start(command + [rows, "--columns", "sequence,heard", "--format", "csv"]).wait().lines.sorted()
            }
            #expect(try lines([]) == lines(["view"]) && lines([]) == lines(["export"]) && lines([]).count > 10, "\(rows)")
        }
    }

    @Test func `an answer about the gateways of a node names the node`() throws {
        let tool = try Tool(holding: [Line.text("hi", from: 0x11), Line.text("ho", from: 0x12)])
        let gateway = try #require(rows(tool, ["gateways"]).first?["gateway"] as? String)
        for (asked, answer) in [
            (["--of", gateway], "no gateway heard \(gateway)"), (["--by", "!00000011"], "!00000011 heard no node as a gateway"),
            (["--by", "!00000011", "--of", "!00000012"], "!00000011 did not hear !00000012 as a gateway"),
        ] {
            let outcome = try tool.start(["gateways"] + asked).wait()
            #expect(outcome.status == 0 && outcome.errors == answer + "\n" && outcome.output.isEmpty, "\(outcome)")
        }
        let unknown = try tool.run("gateways", "--of", "!deadbeef")
        #expect(unknown.status == 66 && unknown.errors.contains("!deadbeef was never heard"))
    }

    @Test func `everyone is one address, however it is written`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 0x11), Line.text("two", from: 0x12)])
        for address in ["^all", "^ALL", "!ffffffff", "!FFFFFFFF", "4294967295"] {
            for list in ["messages", "packets", "events"] {
                #expect(try rows(tool, [list, "--where", "to=\(address)"]).count == 2, "\(list) \(address)")
                #expect(try rows(tool, [list, "--where", "to!=\(address)"]).isEmpty, "\(list) \(address)")
            }
            #expect(try rows(tool, ["export", "messages", "--where", "to=\(address)"]).count == 2, "\(address)")
            #expect(try rows(tool, ["view", "messages", "--where", "to=\(address)"]).count == 2, "\(address)")
        }
        for (arguments, words) in [
            (["packets", "--node", "^all"], "--where to=^all"), (["messages", "--where", "to=broadcast"], "everyone is ^all"),
        ] {
            let outcome = try tool.start(arguments).wait()
            #expect(outcome.status == 66 && outcome.errors.contains(words), "\(outcome)")
        }
    }

    @Test func `a node is found by its id without the sign before it`() throws {
        let tool = try Tool(holding: [Line.text("one", from: 0x1a00_00bc)])
        for id in ["1a0000bc", "0x1a0000bc", "1A0000BC"] {
            #expect(try rows(tool, ["messages", "--node", id]).count == 1, "\(id)")
            #expect(try rows(tool, ["messages", "--where", "from=\(id)"]).count == 1, "\(id)")
        }
        #expect(try tool.run("nodes", "!1a0000bc").errors.contains("`--node '!1a0000bc'` chooses a node"))
    }

    @Test func `conditions on a list are about its entries`() throws {
        func heard(_ id: Int, by gateways: [Int]) -> [String] {
            gateways.map { gateway in
                #"{"from":17,"to":4294967295,"id":\#(id),"channel":0,"type":"text","timestamp":\#(start),"sender":"!0000000\#(gateway)","#
                    + #""payload":{"text":"word \#(id)"}}"#
            }
        }
        let tool = try Tool(holding: heard(1, by: [1, 2]) + heard(2, by: [2]) + heard(3, by: [3]))
        for list in [["packets"], ["messages"], ["export", "packets"], ["export", "messages"], ["view", "messages"]] {
            func count(_ condition: String) throws -> Int { try rows(tool, list + ["--where", condition]).count }
            #expect(try count("gateways=!00000002") == 2 && count("gateways!=!00000002") == 1, "\(list)")
            #expect(try count("gateways=") == 0 && count("gateways!=") == 3, "\(list)")
            #expect(try count("gateways~00000003") == 1, "\(list)")
            for sign in ["<", ">", ">="] {
                let outcome = try tool.start(list + ["--where", "gateways\(sign)1"]).wait()
                #expect(outcome.status == 64 && outcome.errors.contains("gateways is a list"), "\(list): \(outcome)")
            }
        }
        #expect(try rows(tool, ["packets", "--where", "gateway=!00000002"]).count == 2)
        #expect(try rows(tool, ["packets", "--gateway", "!00000002"]).count == 2)
    }
}
