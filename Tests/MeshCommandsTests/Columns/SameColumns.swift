import Foundation
import MeshLedger
import MeshTables
import TestKit
import Testing

@testable import MeshCommands

/// Lists, `view` and `export` say the same of the same rows, and take the same conditions.
@Suite(.enabled(if: Tool.isBuilt, "needs the built command"))
struct SameColumns {
    private func simulated() throws -> Tool {
        let tool = try Tool()
        try tool.run("init")
        try tool.run("simulate", "--seed", "4", "--nodes", "20", "--packets", "2500")
        try tool.run("import", tool.write([Line.text("to all", from: 0x11), Line.node(0x11, long: "Alpha", short: "AL")]))
        return tool
    }

    private func csv(_ tool: Tool, _ line: String...) throws -> [Substring] {
        let outcome = try tool.start(line.flatMap { $0.split(separator: " ").map(String.init) } + ["--format", "csv"]).wait()
        #expect(outcome.status == 0, "\(line): \(outcome.errors)")
        return outcome.lines
    }

    @Test func `export packets writes the rows of packets, with the same filters and conditions`() throws {
        let tool = try simulated()
        let filters = [
            "", "--port POSITION_APP", "--where port=TEXT_MESSAGE_APP", "--where port=1", "--by arrival", "--oldest-first",
            "--limit 7 --offset 3", "--where receptions>1 --limit 5", "--columns id,time,port,gateways", "--channel LongFast",
        ]
        for filter in filters {
            let (listed, exported) = (try csv(tool, "packets " + filter), try csv(tool, "export packets " + filter))
            #expect(listed == exported && listed.count > 2, "\(filter): \(listed.count), \(exported.count)")
        }
        let node = try #require(try tool.run("packets", "--limit", "1", "--format", "jsonl").objects.first?["from"] as? String)
        #expect(try csv(tool, "packets --node \(node)") == csv(tool, "export packets --node \(node)"))
        #expect(try csv(tool, "export packets")[0].contains("time,time_source,arrival,id,from,to,port,"))
        #expect(try tool.run("export", "nodes", "--port", "POSITION_APP").status == 64)
    }

    @Test func `metrics, and what nodes reported last, are columns of lists, views and exports alike`() throws {
        let tool = try simulated()
        for rows in [
            "telemetry --where battery_level<60 --columns sequence,battery_level",
            "nodes --where battery_level<60 --columns node,battery_level,latitude,position_time",
        ] {
            let listed = try csv(tool, rows)
            #expect(listed.count > 2)
            for command in ["view ", "export "] {
                let lines = try csv(tool, command + rows)
                #expect(listed.sorted() == lines.sorted(), "\(command)\(rows): \(listed.count), \(lines.count)")
            }
        }
        #expect(try csv(tool, "view nodes --columns node --sort voltage").count == csv(tool, "nodes").count)
        #expect(try tool.run("export", "nodes", "--where", "air_quality=1").status == 64)
    }

    @Test func `a condition means the same in a list, a view and an export`() throws {
        let tool = try simulated()
        let columns = [
            "messages": "id", "positions": "sequence", "telemetry": "sequence", "nodes": "number", "waypoints": "id",
        ]
        for condition in [
            "messages reply_id=", "messages reply_id!=", "messages to=^all", "messages to~^all",
            "messages gateways~!", "messages time<2100-01-01", "positions altitude>100", "positions fix_time=",
            "positions sent_time!=",
            "positions fix_time<2100-01-01", "telemetry node!=17", "nodes role~CLI", "nodes hardware~T",
            "nodes number=Alpha",
            "nodes hops_away>1",
        ] {
            let view = String(condition.prefix { $0 != " " })
            let rest = condition.dropFirst(view.count + 1)
            let wanted = ["--where", String(rest), "--columns", columns[view] ?? "", "--format", "csv", "--limit", "100000"]
            let found = try [[view], ["view", view], ["export", view]].map { command in
                let arguments = command == ["export", view] ? Array(wanted.dropLast(2)) : wanted
                let outcome = try tool.start(command + arguments).wait()
                #expect(outcome.status == 0, "\(command) \(rest): \(outcome.errors)")
                return outcome.lines.sorted()
            }
            #expect(found[0] == found[1] && found[0] == found[2], "\(condition): \(found.map(\.count))")
        }
        for faulty in ["altitude<x", "altitude>", "latitude>="] {
            for command in [["positions"], ["view", "positions"], ["export", "positions"]] {
                #expect(try tool.start(command + ["--where", faulty]).wait().status == 64, "\(command) \(faulty)")
            }
        }
        #expect(try csv(tool, "view messages --reverse --limit 3").count == 4)
    }

    @Test func `rows that another thread prints are those that are printed at once`() throws {
        let tool = try simulated()
        for list in ["packets", "events", "positions", "telemetry", "export telemetry", "export receptions", "export positions"] {
            for format in ["csv", "jsonl", "json"] {
                let words = list.split(separator: " ").map(String.init) + ["--format", format]
                let behind = try tool.start(words).wait()
                // With a condition, each row is printed when it is found.
                let condition = list == "packets" ? "receptions>0" : "sequence>0"
                let atOnce = try tool.start(words + ["--where", condition]).wait()
                #expect(behind.status == 0 && behind.lines.count > 200 && behind.output == atOnce.output, "\(words)")
            }
        }
    }

    @Test func `what a list prints can be asked for`() throws {
        let tool = try simulated()
        let arrival = try #require(
            try tool.run("packets", "--limit", "1", "--format", "jsonl").objects.first?["arrival"] as? String)
        #expect(arrival.contains("."))
        for list in ["packets", "export packets", "events"] {
            #expect(try csv(tool, "\(list) --where arrival=\(arrival)").count > 1, "\(list)")
        }
        for list in ["positions", "view positions", "export positions"] {
            for heading in ["speed km/h>=0", "altitude m>=0"] {
                let words = list.split(separator: " ").map(String.init) + ["--where", heading, "--format", "csv"]
                let outcome = try tool.start(words).wait()
                #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            }
        }
        for list in ["nodes", "view nodes", "export nodes"] {
            for node in ["17", "!00000011", "Alpha"] {
                #expect(try csv(tool, "\(list) --where number=\(node) --columns node,number").count == 2, "\(list) \(node)")
            }
        }
    }

    @Test func `each column of a table is one of the row's columns, once and in their order`() async throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let ledger = try await Ledger.create(at: folder.url.path)
        func check<Row: ShownRow>(_ row: Row.Type) throws {
            let (all, shown) = (Row.tableColumns(TableContext()).map(\.name), try Row.shown(in: ledger).map(\.name))
            #expect(all.filter(shown.contains) == shown && shown.count > 1, "\(row)")
        }
        var rows: [any ShownRow.Type] = [
            PacketRow.self, ReceptionRecord.self, IndexedEvent.self, QuarantineRow.self, ChannelRow.self,
        ]
        rows += ledger.rowNames.compactMap { ledger.rows(of: $0) as? any ShownRow.Type }
        for row in rows { try check(row) }
        #expect(rows.count > 18)
        try await ledger.close()
    }

    @Test(arguments: ["packets", "events", "positions"])
    func `a table in a pipe or a file has all rows, like every other format`(list: String) throws {
        let tool = try simulated()
        let all = try csv(tool, list).count
        #expect(all > 51)
        let table = try tool.run(list)
        #expect(table.lines.count == all && table.errors.isEmpty, "\(table.errors)")
        let file = tool.folder.file("table")
        #expect(try tool.run(list, "-o", file.path).status == 0)
        #expect(try String(contentsOf: file, encoding: .utf8) == table.output)
    }

    @Test func `export receptions has a row for each time that a packet was heard`() throws {
        let tool = try simulated()
        let packets = try tool.run("packets", "--format", "jsonl").objects
        let heard = packets.reduce(0) { $0 + ($1["receptions"] as? Int ?? 0) }
        #expect(try csv(tool, "export receptions").count == heard + 1)
        let some = try csv(tool, "export receptions --limit 9 --offset 4")
        #expect(some.dropFirst() == (try csv(tool, "export receptions")).dropFirst(5).prefix(9))
        let packet = try #require(packets.first { ($0["receptions"] as? Int ?? 0) > 1 })
        let id = "\(packet["id"] ?? 0)"
        let exported = try csv(tool, "export receptions --packet \(id)")
        #expect(Set(try csv(tool, "packets receptions \(id)")) == Set(exported), "\(packet)")
    }

    @Test func `the index is exported with the names of ports, and everybody is ^all wherever an addressee is shown`() throws {
        let tool = try simulated()
        let ports = Set(try tool.run("export", "packet_events").objects.map { $0["port"] as? String ?? "none" })
        #expect(ports.contains("POSITION_APP") && ports.contains("TEXT_MESSAGE_APP") && !ports.contains("none"), "\(ports)")
        for list in ["packets", "events", "messages", "waypoints --all", "telemetry sensors", "links traceroutes"] {
            let lines = try csv(tool, list)
            #expect(!lines.contains { $0.contains("!ffffffff") }, "\(list)")
        }
        #expect(try csv(tool, "messages --where to=^all").count > 1)
    }

    @Test(arguments: [
        "nodes", "positions", "telemetry", "messages", "waypoints", "traceroutes", "links", "channels", "gateways", "mapreports",
        "sensors", "nodehistory", "hardware", "radios",
    ])
    func `a view has the columns of its export first, with the same values and conditions`(view: String) throws {
        let tool = try simulated()
        func rows(_ words: String...) throws -> Set<String> {
            let lines = try tool.start(words + ["--format", "csv"]).wait()
            #expect(lines.status == 0, "\(words): \(lines.errors)")
            return Set(lines.lines.map(String.init))
        }
        let header = try #require(try tool.run("export", view, "--format", "csv").lines.first.map(String.init))
        let shown = try tool.run("view", view, "--format", "csv").lines.first.map(String.init) ?? ""
        #expect(shown.hasPrefix(header), "\(shown), \(header)")
        #expect(try rows("view", view, "--columns", header) == rows("export", view))
        let raw = try tool.run("view", view, "--raw", "--format", "csv").lines.first.map(String.init) ?? ""
        let known = Set(shown.split(separator: ",").map { $0.replacing("_", with: "") })
        #expect(raw.split(separator: ",").allSatisfy { known.contains($0.replacing("_", with: "")) }, "\(raw)")
        for column in ["role", "hardware", "port", "state", "evidence", "kind", "time_source", "region"]
        where header.split(separator: ",").contains(Substring(column)) {
            guard let value = try tool.run("export", view).objects.lazy.compactMap({ $0[column] as? String }).first else {
                continue
            }
            let condition = "\(column)=\(value.lowercased())"
            let (viewed, exported) = (
                try rows("view", view, "--columns", header, "--where", condition), try rows("export", view, "--where", condition)
            )
            #expect(viewed == exported && exported.count > 1, "\(condition): \(viewed.count), \(exported.count)")
        }
    }

    @Test func `names of enumerations are taken in any case or by number, and one that does not exist is an error`() throws {
        let tool = try simulated()
        let routers = try csv(tool, "nodes --where role=ROUTER")
        #expect(routers.count > 1)
        #expect(try csv(tool, "nodes --where role=router") == routers && csv(tool, "nodes --where role=2") == routers)
        #expect(try csv(tool, "packets --where port=position") == csv(tool, "packets --port 3"))
        for (line, words) in [
            ("nodes --where role=clint", ["no role clint", "did you mean CLIENT?", "ROUTER"]),
            ("nodes --where role!=clint", ["no role clint"]), ("view nodes --where role=clint", ["did you mean CLIENT?"]),
            ("export nodes --where role=clint", ["did you mean CLIENT?"]),
            ("packets --where port=TEXT_MESAGE_APP", ["did you mean TEXT_MESSAGE_APP?"]),
            ("messages --where state=delivred", ["did you mean delivered?"]),
            ("links --where evidence=direkt", ["did you mean direct?"]),
            ("events --where opening=opaq", ["did you mean opaque?"]),
            ("nodes --where hardware=RAK463", ["did you mean RAK4631?"]),
        ] {
            let outcome = try tool.start(line.split(separator: " ").map(String.init)).wait()
            #expect(outcome.status == 66 && words.allSatisfy { outcome.errors.contains($0) }, "\(line): \(outcome)")
        }
        #expect(try tool.run("messages", "--where", "state=failed", "--format", "csv").status == 0)
    }

    @Test func `channels have one label, also where no key opens them`() throws {
        let tool = try simulated()
        try tool.run("simulate", "--seed", "9", "--nodes", "5", "--packets", "300", "--bad", "200")
        let channels = try tool.run("channels", "--format", "jsonl").objects.compactMap { $0["channel"] as? String }
        let packets = Set(try tool.run("packets", "--format", "jsonl").objects.compactMap { $0["channel"] as? String })
        #expect(packets.isSubset(of: channels) && !channels.contains(""), "\(packets), \(channels)")
        let rows = try csv(tool, "channels --columns channel,readable")
        #expect(rows.allSatisfy { !$0.hasPrefix(",") && !$0.hasPrefix("\"\"") }, "\(rows)")
    }

    @Test func `metrics are conditions without a kind, and what has no numbers is not averaged`() throws {
        let tool = try simulated()
        let low = try tool.run("telemetry", "--where", "battery_level < 60", "--format", "jsonl").objects
        let device = try tool.run("telemetry", "--kind", "device", "--where", "battery_level<60", "--format", "jsonl").objects
        #expect(low.count == device.count && !low.isEmpty)
        #expect(try csv(tool, "telemetry --mean battery_level --count-by node").count > 1)
        let refused = try tool.run("telemetry", "--kind", "device", "--mean", "node")
        #expect(refused.status == 64 && refused.errors.contains("node has no numbers to sum up"), "\(refused)")
        #expect(refused.errors.contains("battery_level") && refused.errors.contains("sequence"), "\(refused)")
        #expect(try csv(tool, "messages --count-by from --mean is_delivered").count > 1)
    }

    @Test func `GPX has speed and course, and a page of GeoJSON is one of its features`() throws {
        let tool = try simulated()
        let positions = try tool.run("export", "positions").objects
        let gpx = try tool.run("export", "positions", "--format", "gpx").output
        let speeds = gpx.components(separatedBy: "<gpxtpx:speed>").count - 1
        #expect(speeds == positions.count { $0["ground_speed"] is Int } && speeds > 0)
        func features(_ words: String...) throws -> [NSDictionary] {
            let text = try tool.start(["export", "traceroutes", "--format", "geojson"] + words).wait().output
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return object?["features"] as? [NSDictionary] ?? []
        }
        let all = try features()
        #expect(try all.count > 4 && features("--limit", "3") == Array(all.prefix(3)))
        #expect(try features("--limit", "2", "--offset", "1") == Array(all[1..<3]))
    }
}
